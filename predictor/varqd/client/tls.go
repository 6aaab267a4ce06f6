package client

import (
	"bytes"
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"
	"time"

	"github.com/varq-project/varq/predictor/api"
)

const (
	// maxIdle is how many connections to another site are kept that no request needs, each for
	// idleTime.
	maxIdle  = 16
	idleTime = time.Minute
)

// Trust proves to each end of a connection which site is at the other. Package sitecert implements
// it.
type Trust interface {
	// Client returns the configuration of a connection to a site.
	Client(site string) (*tls.Config, error)
	// Serves reports whether a connection that was made with such a configuration may serve another
	// request.
	Serves(made *tls.Config, c tls.ConnectionState) bool
}

// trusted is a connection to another site.
type trusted struct {
	*tls.Conn
	made *tls.Config
}

// NewTLS returns a client of the varqd of another site at HOST:PORT, for varqd itself.
func NewTLS(address, site string, trust Trust) *Client {
	c := &Client{Timeout: DefaultTimeout, User: DefaultUser, endpoint: "tls://" + address, base: "https://" + address}
	c.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	var dialer net.Dialer
	c.http.Transport = &http.Transport{
		MaxIdleConnsPerHost: maxIdle, IdleConnTimeout: idleTime,
		DialTLSContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			config, err := trust.Client(site)
			if err != nil {
				return nil, err
			}
			raw, err := dialer.DialContext(ctx, network, address)
			if err != nil {
				return nil, err
			}
			encrypted := tls.Client(raw, config)
			if err := encrypted.HandshakeContext(ctx); err != nil {
				raw.Close()
				return nil, err
			}
			return &trusted{encrypted, config}, nil
		},
	}
	c.trace = &httptrace.ClientTrace{GotConn: func(info httptrace.GotConnInfo) {
		// Of one that is closed before anything was written package http makes another.
		if of := info.Conn.(*trusted); info.Reused && !trust.Serves(of.made, of.ConnectionState()) {
			of.NetConn().Close()
		}
	}}
	return c
}

// Unanswered is the error of a request that was sent, and that may have been done.
type Unanswered struct{ error }

// Unwrap returns why there is no answer.
func (u *Unanswered) Unwrap() error { return u.error }

// Relay makes a request of user's as it is, and returns the status of the answer and its body,
// whatever they are. It ends when ctx does. If the request was sent, the error is an *Unanswered.
func (c *Client) Relay(ctx context.Context, user, method, uri string, body []byte) (status int, answer []byte, err error) {
	var sent atomic.Bool
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteHeaders: func() { sent.Store(true) }})
	r, err := http.NewRequestWithContext(ctx, method, c.base+uri, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	r.Header.Set(api.ForUser, user)
	r.Header.Set("Content-Type", "application/json")
	var timeout time.Duration
	if deadline, ok := ctx.Deadline(); ok {
		timeout = time.Until(deadline).Round(time.Second / 10)
	}
	got, err := c.exchange(r, timeout, min(mostOf(uri, nil), maxRelayed))
	switch {
	case err != nil && sent.Load():
		return 0, nil, &Unanswered{err}
	case err != nil:
		return 0, nil, err
	}
	return got.code, got.body, nil
}
