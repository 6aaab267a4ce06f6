package server

import (
	"context"
	"fmt"
	"net"
	"sync"

	"golang.org/x/sys/unix"
)

// listener identifies the peer of each connection and bounds how many
// connections one peer has open, so that nobody can take them all.
type listener struct {
	net.Listener
	mu   sync.Mutex
	open map[string]int // by peer
}

// conn is a connection whose peer is known: by user id on a unix socket, by
// address elsewhere.
type conn struct {
	net.Conn
	local  bool
	uid    uint32
	key    string
	once   sync.Once
	closed func()
}

func (l *listener) Accept() (net.Conn, error) {
	for {
		raw, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		c, err := identify(raw)
		if err != nil || !l.admit(c) {
			raw.Close()
			continue
		}
		return c, nil
	}
}

func (l *listener) admit(c *conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open[c.key] >= maxConnections {
		return false
	}
	l.open[c.key]++
	c.closed = func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.open[c.key]--; l.open[c.key] == 0 {
			delete(l.open, c.key)
		}
	}
	return true
}

func (c *conn) Close() error {
	c.once.Do(c.closed)
	return c.Conn.Close()
}

func identify(raw net.Conn) (*conn, error) {
	socket, ok := raw.(*net.UnixConn)
	if !ok {
		host, _, err := net.SplitHostPort(raw.RemoteAddr().String())
		return &conn{Conn: raw, key: host}, err
	}
	control, err := socket.SyscallConn()
	if err != nil {
		return nil, err
	}
	var peer *unix.Ucred
	var peerErr error
	if err := control.Control(func(fd uintptr) {
		peer, peerErr = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	}); err != nil {
		return nil, err
	}
	if peerErr != nil {
		return nil, peerErr
	}
	return &conn{Conn: raw, local: true, uid: peer.Uid, key: fmt.Sprintf("uid %d", peer.Uid)}, nil
}

type peerKey struct{}

func withPeer(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, peerKey{}, c)
}

// localUID returns the user id at the other end of a unix socket.
func localUID(ctx context.Context) (uid uint32, ok bool) {
	c, ok := ctx.Value(peerKey{}).(*conn)
	if !ok || !c.local {
		return 0, false
	}
	return c.uid, true
}
