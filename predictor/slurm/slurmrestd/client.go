// Package slurmrestd is a client of Slurm's REST API, v0.0.38 (Slurm 22.05) to v0.0.44
// (Slurm 25.11 and 26.05).
//
// Each release of Slurm serves some of these versions, and their JSON differs. The client
// uses the newest version in the server's OpenAPI document that it knows. The same few
// types decode all versions: a number may be an integer, a string or
// {set,infinite,number}, and a list may be a string or an array.
package slurmrestd

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/varq-project/varq/predictor/slurm"
)

// Options says how to reach a slurmrestd.
type Options struct {
	// URL of the server: http://HOST:PORT, https://HOST:PORT, or
	// unix:/PATH/OF/SOCKET.
	URL string
	// User is the Slurm user to act as. Slurm 22.05 needs it besides Token. Later
	// releases take the user from the token.
	User string
	// Token returns the JSON web token. The client calls it for every request, and again
	// when the server has rejected the token. Token is nil for a socket whose server
	// acts as its own user (rest_auth/local).
	Token func() (string, error)
	// Timeout bounds one request; 0 stands for 1 minute. A request for history may take
	// five times as long.
	Timeout time.Duration
	// MaxAnswer bounds the length of one answer in bytes; 0 stands for 512 MiB. That is a queue of
	// more than 50,000 jobs, which are read one after another. It bounds jobs, and what is in
	// accounting; other answers are shorter.
	MaxAnswer int64
	// Now is this host's clock, which Clock compares with slurmctld's; nil stands for
	// time.Now.
	Now func() time.Time
}

// Client is a client of one slurmrestd. Several goroutines may use it at once. While Slurm
// cannot be reached, every method returns an error that wraps slurm.ErrUnavailable.
type Client struct {
	opts Options
	base string
	http *http.Client
	// maxAnswer bounds an answer's length in bytes.
	maxAnswer int64

	versions atomic.Pointer[versions] // of the server, or nil while they are not known
}

const (
	defaultTimeout  = time.Minute
	historyTimeouts = 5         // times the Timeout
	maxAnswer       = 512 << 20 // bytes
	maxErrorAnswer  = 1 << 20   // bytes
)

// New returns a client. It does not connect. It fails if the URL is invalid.
func New(opts Options) (*Client, error) {
	opts.Timeout = cmp.Or(opts.Timeout, defaultTimeout)
	if opts.Now == nil {
		opts.Now = time.Now
	}
	transport := &http.Transport{MaxIdleConnsPerHost: 2, IdleConnTimeout: 30 * time.Second}
	client := &Client{opts: opts, http: &http.Client{Transport: transport, CheckRedirect: noRedirect}, maxAnswer: cmp.Or(opts.MaxAnswer, maxAnswer)}
	if path, ok := strings.CutPrefix(opts.URL, "unix:"); ok {
		path = strings.TrimPrefix(path, "//")
		if !strings.HasPrefix(path, "/") {
			return nil, fmt.Errorf("slurmrestd URL %q: want unix:/PATH", opts.URL)
		}
		client.base = "http://slurmrestd"
		transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", path)
		}
		return client, nil
	}
	u, err := url.Parse(opts.URL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("slurmrestd URL %q: want http://HOST:PORT, https://HOST:PORT or unix:/PATH", opts.URL)
	}
	client.base = strings.TrimSuffix(opts.URL, "/")
	return client, nil
}

// noRedirect makes a redirect a failure. slurmrestd sends none, and following one would
// send the token to another server.
func noRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// Close closes idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// request is a request to the API.
type request struct {
	method string
	family family
	path   string                   // below the version: "/jobs"
	query  func(version) url.Values // nil for none
	body   any                      // sent as JSON
	user   string                   // the Slurm user to act as; "" stands for Options.User
}

// fields has the fields of an answer to read, by key in lower case: "jobs", "nodes" and so
// on. Other fields are skipped, except "errors", which is always read.
type fields map[string]field

// field is one field of an answer.
type field struct {
	// read reads the field's value. For null it returns errNull.
	read func(*decoder) error
	// optional says that the field may be null or absent. Without any other field of a
	// request's fields, its answer is a missingError.
	optional bool
}

// presence says whether an element of an array has a field.
type presence struct {
	key     string
	present bool
}

// errNull is the error of a field that is null.
var errNull = errors.New("null")

// orAbsent returns the field as an optional one.
func (f field) orAbsent() field {
	f.optional = true
	return f
}

// each calls use for each element of an array, so that only one element is in memory at a
// time. An element whose method required names an absent field is a missingError.
func each[T any](use func(*T) error) field {
	return field{read: func(d *decoder) error {
		token, err := d.Token()
		if err != nil {
			return err
		}
		if token == nil {
			return errNull
		}
		if token != json.Delim('[') {
			return fmt.Errorf("want an array, not %v", token)
		}
		for d.More() {
			var element T
			if err := d.decodeElement(&element); err != nil {
				return err
			}
			if e, ok := any(&element).(interface{ required() []presence }); ok {
				for _, field := range e.required() {
					if !field.present {
						return missingError(field.key)
					}
				}
			}
			if err := use(&element); err != nil {
				return err
			}
		}
		_, err = d.Token()
		return err
	}}
}

// do sends a request, and reads the answer with fields. It takes at most Options.Timeout.
func (c *Client) do(ctx context.Context, r request, fields fields) error {
	ctx, cancel := context.WithTimeoutCause(ctx, c.opts.Timeout, errTimeout)
	defer cancel()
	return c.doWithin(ctx, r, fields)
}

var errTimeout = errors.New("slurmrestd did not answer in time")

// most bounds the answer to a request, in bytes. What slurmctld has besides jobs is less than they
// are: nodes, partitions.
func (c *Client) most(r request) int64 {
	if r.family == controller && !strings.HasPrefix(r.path, "/job") {
		return c.maxAnswer / 4
	}
	return c.maxAnswer
}

// doWithin is do without a timeout of its own: ctx bounds it.
func (c *Client) doWithin(ctx context.Context, r request, fields fields) error {
	v, err := c.serverVersions(ctx)
	if err != nil {
		return err
	}
	path := fmt.Sprintf("/%s/%s%s", r.family, v[r.family], r.path)
	if r.query != nil {
		if query := r.query(v[r.family]); len(query) > 0 {
			path += "?" + query.Encode()
		}
	}
	response, err := c.send(ctx, cmp.Or(r.user, c.opts.User), r.method, path, r.body)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	name := r.method + " " + strings.SplitN(path, "?", 2)[0]
	if response.StatusCode >= 300 {
		err := c.failure(name, response)
		if response.StatusCode == http.StatusNotFound && len(err.Slurm) == 0 {
			c.forgetVersions() // perhaps Slurm was upgraded
		}
		return err
	}
	return readAnswer(ctx, name, newDecoder(response.Body, c.most(r)), fields)
}

// send sends a request as a Slurm user. If the answer may mean that the token was rejected, and
// there is a new token, send sends the request again. Slurm's answer often does not tell the reason
// of a failure.
func (c *Client) send(ctx context.Context, user, method, path string, body any) (*http.Response, error) {
	var encoded []byte
	if body != nil {
		var err error
		if encoded, err = json.Marshal(body); err != nil {
			return nil, err
		}
	}
	token, err := c.token()
	if err != nil {
		return nil, err
	}
	for {
		response, err := c.sendOnce(ctx, user, method, path, encoded, token)
		if err != nil {
			return nil, unreachable(ctx, method, path, err)
		}
		if response.StatusCode != http.StatusUnauthorized && response.StatusCode < 500 {
			return response, nil
		}
		renewed, err := c.token()
		if err != nil || renewed == token {
			return response, nil
		}
		response.Body.Close()
		token = renewed
	}
}

func (c *Client) token() (string, error) {
	if c.opts.Token == nil {
		return "", nil
	}
	return c.opts.Token()
}

func (c *Client) sendOnce(ctx context.Context, user, method, path string, body []byte, token string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, method, c.base+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Accept", "application/json")
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	if user != "" {
		r.Header.Set("X-SLURM-USER-NAME", user)
	}
	if token != "" {
		r.Header.Set("X-SLURM-USER-TOKEN", token)
	}
	return c.http.Do(r)
}

// unreachable returns the error for a request without an answer.
func unreachable(ctx context.Context, method, path string, err error) error {
	path, _, _ = strings.Cut(path, "?")
	if cause := context.Cause(ctx); errors.Is(cause, errTimeout) {
		return fmt.Errorf("slurmrestd: %s %s: %w: %w: %w", method, path, cause, slurm.ErrTooMuch, slurm.ErrUnavailable)
	}
	return fmt.Errorf("slurmrestd: %s %s: %w: %w", method, path, slurm.ErrUnavailable, err)
}

// failure reads an answer whose HTTP status is a failure.
func (c *Client) failure(name string, response *http.Response) *Error {
	var answer struct {
		Errors []wireError
	}
	// If the answer is not JSON, only the status is known.
	_ = json.NewDecoder(io.LimitReader(response.Body, maxErrorAnswer)).Decode(&answer)
	return newError(name, response.StatusCode, answer.Errors)
}

func newError(name string, status int, wire []wireError) *Error {
	e := &Error{Request: name, Status: status}
	for i := range wire {
		e.Slurm = append(e.Slurm, wire[i].slurmError())
	}
	e.kind = kindOf(status, e.Slurm)
	return e
}

// readAnswer reads an answer's fields one after another. An answer with status 200 may
// still be a failure.
func readAnswer(ctx context.Context, name string, d *decoder, fields fields) error {
	var errs []wireError
	found := make(map[string]bool)
	err := readObject(d, func(key string, d *decoder) error {
		name := strings.ToLower(key) // v0.0.38 has "QOS"
		field, ok := fields[name]
		switch {
		case name == "errors":
			field = value(&errs)
		case !ok:
			return skipValue(d)
		}
		err := field.read(d)
		if errors.Is(err, errNull) {
			return nil
		}
		found[name] = true
		return err
	})
	switch {
	case errors.Is(err, errStop):
		return nil
	case err != nil && ctx.Err() != nil:
		method, path, _ := strings.Cut(name, " ")
		return unreachable(ctx, method, path, err)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.As(err, new(net.Error)):
		return fmt.Errorf("slurmrestd: %s: the answer was cut short: %w: %w", name, slurm.ErrUnavailable, err)
	case err != nil:
		return fmt.Errorf("slurmrestd: %s: bad answer: %w", name, err)
	case len(errs) > 0:
		e := newError(name, http.StatusOK, errs)
		if len(e.Slurm) == 1 && e.Slurm[0].Number == errNothingFound {
			return nil
		}
		return e
	}
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		if !found[key] && !fields[key].optional {
			return fmt.Errorf("slurmrestd: %s: bad answer: %w", name, missingError(key))
		}
	}
	return nil
}

// missingError is the error of an answer without one of the fields that every version of the
// API has. A slurmrestd in trouble may answer so. What it leaves out is not known, and so must
// not be taken for nothing. The error wraps slurm.ErrUnavailable.
type missingError string

// Error implements error.
func (field missingError) Error() string { return fmt.Sprintf("it has no field %q", string(field)) }

// Unwrap returns slurm.ErrUnavailable.
func (missingError) Unwrap() error { return slurm.ErrUnavailable }

// value stores a field in v.
func value[T any](v *T) field {
	return field{read: func(d *decoder) error {
		var read *T
		if err := d.Decode(&read); err != nil {
			return err
		}
		if read == nil {
			return errNull
		}
		*v = *read
		return nil
	}}
}

// errStop ends the reading of an answer early.
var errStop = errors.New("stop")
