// Package peercred asks the kernel who is at the other end of a unix socket.
package peercred

import (
	"net"

	"golang.org/x/sys/unix"
)

// UID returns the user id of the process at the other end of a connection: of the one that
// has connected, or, on the side that has connected, of the one that listens.
func UID(socket *net.UnixConn) (uint32, error) {
	control, err := socket.SyscallConn()
	if err != nil {
		return 0, err
	}
	var peer *unix.Ucred
	var peerErr error
	if err := control.Control(func(fd uintptr) {
		peer, peerErr = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	}); err != nil {
		return 0, err
	}
	if peerErr != nil {
		return 0, peerErr
	}
	return peer.Uid, nil
}
