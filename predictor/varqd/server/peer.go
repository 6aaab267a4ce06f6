package server

import (
	"context"
	"crypto/tls"
	"net"
	"net/netip"
	"strconv"
	"sync"

	"github.com/varq-project/varq/predictor/varqd/peercred"
)

// conn is a connection whose peer is known: by user id on a unix socket, by address
// elsewhere.
type conn struct {
	net.Conn
	local bool
	uid   uint32 // on a unix socket
	peer  string // the user or address at the other end
	from  *connections

	// What connections knows of it, under its lock.
	key   string // whom it counts for
	whole bool   // a request has come whole, and is not answered yet
	gone  bool

	once     sync.Once
	closeErr error
}

// address returns the address of the host at the other end: on a unix socket that is this host.
func (c *conn) address() netip.Addr {
	if c.local {
		return netip.IPv6Loopback()
	}
	end, err := netip.ParseAddrPort(c.RemoteAddr().String())
	if err != nil {
		return netip.Addr{}
	}
	return end.Addr().Unmap().WithZone("")
}

// Close closes the connection. It may be called more than once.
func (c *conn) Close() error {
	c.once.Do(func() {
		c.from.leave(c)
		c.closeErr = c.Conn.Close()
	})
	return c.closeErr
}

// listener identifies the peer of each connection, and admits it.
type listener struct {
	net.Listener
	connections *connections
}

func (l *listener) Accept() (net.Conn, error) {
	for {
		raw, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		c, err := identify(raw)
		if err != nil || !l.connections.admit(c) {
			raw.Close()
			continue
		}
		return c, nil
	}
}

func identify(raw net.Conn) (*conn, error) {
	if socket, ok := raw.(*net.UnixConn); ok {
		uid, err := peercred.UID(socket)
		return &conn{Conn: raw, local: true, uid: uid, peer: userKey(uid)}, err
	}
	host, _, err := net.SplitHostPort(raw.RemoteAddr().String())
	return &conn{Conn: raw, peer: host}, err
}

// userKey names a user among peers, and siteKey another site; no address looks like that.
func userKey(uid uint32) string { return "uid " + strconv.FormatUint(uint64(uid), 10) }

func siteKey(site string) string { return "site " + site }

type peerKey struct{}

func withPeer(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, peerKey{}, below(c))
}

// below returns the connection of which c is, which may be encrypted.
func below(c net.Conn) *conn {
	if encrypted, is := c.(*tls.Conn); is {
		c = encrypted.NetConn()
	}
	return c.(*conn)
}

// connOf returns the connection of a request.
func connOf(ctx context.Context) *conn { return ctx.Value(peerKey{}).(*conn) }
