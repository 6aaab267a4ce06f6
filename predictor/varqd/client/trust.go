package client

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"net"
	"os"
	"os/user"
	"strconv"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/varqd/peercred"
)

// DefaultUser is whom varqd runs as, unless the client is told otherwise.
const DefaultUser = "varq"

// errImpostor is the error of an answer that is not proven to be varqd's. A port or a socket
// belongs to whoever takes it first, and an answer becomes options of the user's job.
var errImpostor = errors.New("what answers there does not prove to be varqd")

// verifyPeer returns an error unless varqd's user listens at the other end of a unix socket.
func (c *Client) verifyPeer(socket *net.UnixConn) error {
	uid, err := peercred.UID(socket)
	if err != nil {
		return err
	}
	return c.verifyUser(uid)
}

// verifyAnswer returns an error unless varqd's user has made the credential of an answer, for
// this answer to the request with the credential request.
func (c *Client) verifyAnswer(ctx context.Context, request string, answer *reply) error {
	if answer.credential == "" {
		return fmt.Errorf("%w: HTTP %.60q without a munge credential: %.300q", errImpostor, answer.status, answer.body)
	}
	maker, payload, err := c.munge.Decode(ctx, answer.credential)
	if err != nil {
		return fmt.Errorf("%w: %w", errImpostor, err)
	}
	if err := c.verifyUser(maker.UID); err != nil {
		return err
	}
	if subtle.ConstantTimeCompare(payload, api.AnswerDigest(request, answer.code, answer.body)) != 1 {
		return fmt.Errorf("%w: its munge credential was made for another answer", errImpostor)
	}
	return nil
}

// verifyUser returns an error if a user is not varqd's. Root can be everybody anyhow, and
// nobody deceives himself: a varqd of the user's own is one that he has started.
func (c *Client) verifyUser(uid uint32) error {
	if uid == 0 || int64(uid) == int64(os.Getuid()) {
		return nil
	}
	want, err := lookUp(c.User)
	if err != nil {
		return fmt.Errorf("%w: it runs as uid %d, and this host does not know varqd's user %s (%w); name the user, or the uid, as client.user in varq.yaml", errImpostor, uid, c.User, err)
	}
	if uid != want {
		return fmt.Errorf("%w: it runs as uid %d, and varqd as %s (uid %d, client.user in varq.yaml)", errImpostor, uid, c.User, want)
	}
	return nil
}

// lookUp returns the id of a user, who is given by name or by id.
func lookUp(name string) (uint32, error) {
	id := name
	if _, err := strconv.ParseUint(name, 10, 32); err != nil {
		found, err := user.Lookup(name)
		if err != nil {
			return 0, err
		}
		id = found.Uid
	}
	uid, err := strconv.ParseUint(id, 10, 32)
	return uint32(uid), err
}
