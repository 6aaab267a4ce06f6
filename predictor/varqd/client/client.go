// Package client is a client of varqd's API. It connects by the unix socket of its
// own host, where the kernel proves to each end who is at the other, or by TCP, where
// munge credentials do.
//
// Invariant: no answer is taken from anybody but varqd's user.
package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/varqd/munge"
)

// DefaultTimeout bounds one request, credential included.
const DefaultTimeout = 2 * time.Second

// acceptTimeout bounds a request of Accept, in which varqd changes a job in Slurm. It is as long as
// varqd works on a request.
const acceptTimeout = 20 * time.Second

// maxAnswer bounds an answer of varqd's, in bytes.
const maxAnswer = 64 << 20

// maxRefusal bounds an answer from which nothing is wanted but whether all went well, in bytes.
const maxRefusal = 1 << 20

// Client asks one varqd. Its methods may be called at the same time. What they
// return as an error is a sentence for the user.
type Client struct {
	// Timeout bounds one request; New sets it to DefaultTimeout.
	Timeout time.Duration
	// User is whom varqd runs as, by name or id; New sets it to DefaultUser.
	User string

	endpoint string
	base     string // of every URL
	http     http.Client
	munge    *munge.Munge // on TCP
}

// New returns a client of the varqd at an endpoint, unix:///PATH or
// tcp://HOST:PORT. On TCP it makes its credentials with the munged at
// mungeSocket; empty means munge's own default.
func New(endpoint, mungeSocket string) (*Client, error) {
	c := &Client{Timeout: DefaultTimeout, User: DefaultUser, endpoint: endpoint}
	c.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	var dialer net.Dialer
	scheme, address, _ := strings.Cut(endpoint, "://")
	switch {
	case scheme == "unix" && strings.HasPrefix(address, "/"):
		c.base = "http://varqd"
		c.http.Transport = &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			socket, err := dialer.DialContext(ctx, "unix", address)
			if err != nil {
				return nil, err
			}
			if err := c.verifyPeer(socket.(*net.UnixConn)); err != nil {
				return nil, errors.Join(err, socket.Close())
			}
			return socket, nil
		}}
	case scheme == "tcp":
		if _, port, err := net.SplitHostPort(address); err != nil || port == "" {
			return nil, fmt.Errorf("endpoint %q: tcp:// is followed by HOST:PORT", endpoint)
		}
		c.base = "http://" + address
		c.http.Transport = &http.Transport{DialContext: dialer.DialContext}
		c.munge = &munge.Munge{Socket: mungeSocket}
	default:
		return nil, fmt.Errorf("endpoint %q is neither unix:///PATH nor tcp://HOST:PORT", endpoint)
	}
	return c, nil
}

// Close closes the connections that no request needs. The Client can be used again.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// ErrUnreachable is returned when varqd does not answer.
var ErrUnreachable = errors.New("varqd is not reachable")

// Plan asks for a reservation: a promise, or a refusal.
func (c *Client) Plan(ctx context.Context, r api.PlanRequest) (a api.PlanAnswer, err error) {
	err = c.do(ctx, http.MethodPost, api.PathPlan, r, &a)
	return a, err
}

// Quote asks what Plan would promise, and promises nothing.
func (c *Client) Quote(ctx context.Context, r api.PlanRequest) (a api.PlanAnswer, err error) {
	err = c.do(ctx, http.MethodPost, api.PathQuote, r, &a)
	return a, err
}

// Bind tells varqd which job a plan became.
func (c *Client) Bind(ctx context.Context, b api.Binding) error {
	return c.do(ctx, http.MethodPost, api.PathBind, b, nil)
}

// Cancel takes back a plan without a job.
func (c *Client) Cancel(ctx context.Context, a api.Cancellation) error {
	return c.do(ctx, http.MethodPost, api.PathCancel, a, nil)
}

// Accept agrees to a higher ceiling on the cost of idle nodes. Slurm may be slow to change the job:
// it may take longer than Timeout.
func (c *Client) Accept(ctx context.Context, a api.Acceptance) (r api.Accepted, err error) {
	err = c.doWithin(ctx, max(c.Timeout, acceptTimeout), http.MethodPost, api.PathAccept, a, &r)
	return r, err
}

// Reservations lists reservations that the asker may see.
func (c *Client) Reservations(ctx context.Context, q api.ReservationsQuery) (list []api.Reservation, err error) {
	v := values{}
	v.text(api.ParamUser, q.User)
	v.number(api.ParamJob, q.Job)
	if q.All {
		v.text(api.ParamAll, "true")
	}
	v.selection(q.Selection)
	err = c.do(ctx, http.MethodGet, v.path(api.PathReservations), nil, &list)
	return list, err
}

// Nodes asks for the nodes, and how probable it is that they fail.
func (c *Client) Nodes(ctx context.Context) (n api.Nodes, err error) {
	err = c.do(ctx, http.MethodGet, api.PathNodes, nil, &n)
	return n, err
}

// Risk asks how probable it is that one of the nodes fails, which are written as Slurm does: node[1-4],node7.
func (c *Client) Risk(ctx context.Context, nodes string) (r api.Risk, err error) {
	v := values{}
	v.text(api.ParamNodes, nodes)
	err = c.do(ctx, http.MethodGet, v.path(api.PathRisk), nil, &r)
	return r, err
}

// NodesCalibration asks how far forecasts of failures are to be believed.
func (c *Client) NodesCalibration(ctx context.Context, q api.NodesCalibrationQuery) (n api.NodesCalibration, err error) {
	v := values{}
	v.number(api.ParamStart, q.Start)
	v.number(api.ParamEnd, q.End)
	err = c.do(ctx, http.MethodGet, v.path(api.PathNodesScores), nil, &n)
	return n, err
}

// Limits asks what the site's policy allows the asker, and what she uses of it.
func (c *Client) Limits(ctx context.Context) (l api.Limits, err error) {
	err = c.do(ctx, http.MethodGet, api.PathLimits, nil, &l)
	return l, err
}

// Report compares promises and outcomes of those that the asker may see.
func (c *Client) Report(ctx context.Context, q api.ReportQuery) (r api.Report, err error) {
	v := values{}
	v.text(api.ParamBy, q.By)
	v.text(api.ParamUser, q.User)
	v.selection(q.Selection)
	err = c.do(ctx, http.MethodGet, v.path(api.PathReport), nil, &r)
	return r, err
}

// Calibration asks how far forecasts are to be believed.
func (c *Client) Calibration(ctx context.Context, q api.CalibrationQuery) (r api.Calibration, err error) {
	v := values{}
	v.text(api.ParamBy, q.By)
	v.number(api.ParamStart, q.Start)
	v.number(api.ParamEnd, q.End)
	v.text(api.ParamForecaster, q.Forecaster)
	v.text(api.ParamPartition, q.Partition)
	v.text(api.ParamClass, q.Class)
	err = c.do(ctx, http.MethodGet, v.path(api.PathCalibration), nil, &r)
	return r, err
}

// Shadow asks what would have been promised, and what would have come of it.
func (c *Client) Shadow(ctx context.Context, q api.ShadowQuery) (s api.Shadow, err error) {
	v := values{}
	v.number(api.ParamStart, q.Start)
	v.number(api.ParamEnd, q.End)
	err = c.do(ctx, http.MethodGet, v.path(api.PathShadow), nil, &s)
	return s, err
}

// Predict bounds the wait of a job submitted now.
func (c *Client) Predict(ctx context.Context, r api.PredictRequest) (p api.Prediction, err error) {
	err = c.do(ctx, http.MethodPost, api.PathPredict, r, &p)
	return p, err
}

// Vitals tells what was measured of a node.
func (c *Client) Vitals(ctx context.Context, v api.Vitals) error {
	return c.do(ctx, http.MethodPost, api.PathVitals, v, nil)
}

// Health returns varqd's own state.
func (c *Client) Health(ctx context.Context) (h api.Health, err error) {
	err = c.do(ctx, http.MethodGet, api.PathHealth, nil, &h)
	return h, err
}

// values are the parameters of a request that are not at their zero.
type values url.Values

func (v values) text(key, value string) {
	if value != "" {
		url.Values(v).Set(key, value)
	}
}

func (v values) number(key string, n int64) {
	if n != 0 {
		v.text(key, strconv.FormatInt(n, 10))
	}
}

func (v values) selection(s api.Selection) {
	v.number(api.ParamStart, s.Start)
	v.number(api.ParamEnd, s.End)
	v.text(api.ParamAccount, strings.Join(s.Accounts, ","))
	v.text(api.ParamPartition, strings.Join(s.Partitions, ","))
	v.text(api.ParamName, strings.Join(s.Names, ","))
	v.text(api.ParamState, strings.Join(s.States, ","))
}

func (v values) path(path string) string {
	if len(v) == 0 {
		return path
	}
	return path + "?" + url.Values(v).Encode()
}

// do makes one request and decodes its answer, within Timeout.
func (c *Client) do(ctx context.Context, method, path string, question, answer any) error {
	return c.doWithin(ctx, c.Timeout, method, path, question, answer)
}

// doWithin is do with another timeout.
func (c *Client) doWithin(ctx context.Context, timeout time.Duration, method, path string, question, answer any) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	var body []byte
	if question != nil {
		var err error
		if body, err = json.Marshal(question); err != nil {
			return err
		}
	}
	r, err := http.NewRequestWithContext(ctx, method, c.base+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	if question != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	var credential string
	if c.munge != nil {
		if credential, err = c.munge.Encode(ctx, api.RequestDigest(method, r.URL.RequestURI(), body)); err != nil {
			return fmt.Errorf("no credential for varqd: %w", err)
		}
		r.Header.Set("Authorization", "Munge "+credential)
	}
	resp, err := c.http.Do(r)
	if err != nil {
		return c.unreachable(err, timeout)
	}
	defer resp.Body.Close()
	most := int64(maxAnswer)
	if answer == nil {
		most = maxRefusal
	}
	text, err := io.ReadAll(io.LimitReader(resp.Body, most+1))
	if err != nil {
		return c.unreachable(err, timeout)
	}
	if int64(len(text)) > most {
		return fmt.Errorf("varqd at %s answers with more than %d bytes", c.endpoint, most)
	}
	if c.munge != nil {
		if err := c.verifyAnswer(ctx, credential, resp, text); err != nil {
			return fmt.Errorf("%s: %w", c.endpoint, err)
		}
	}
	// A varqd in trouble answers for its health with an error's status.
	if resp.StatusCode/100 != 2 && path != api.PathHealth {
		return refusal(resp, text)
	}
	if answer == nil {
		return nil
	}
	if err := json.Unmarshal(text, answer); err != nil {
		return fmt.Errorf("varqd at %s answers what is no answer: %w", c.endpoint, err)
	}
	return nil
}

// unreachable says in a few words why varqd did not answer.
func (c *Client) unreachable(err error, timeout time.Duration) error {
	why := err.Error()
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		why = wrapped.Err.Error()
		if wrapped.Timeout() {
			why = fmt.Sprintf("no answer within %v", timeout)
		}
	}
	return fmt.Errorf("%w at %s: %s", ErrUnreachable, c.endpoint, why)
}

// refusal returns varqd's own words, as a fault of package api if they are of such a kind, or the
// HTTP status without them.
func refusal(resp *http.Response, text []byte) error {
	var e api.Error
	if json.Unmarshal(text, &e) != nil || e.Error == "" {
		return fmt.Errorf("varqd answers %s", resp.Status)
	}
	if kind := api.KindOf(resp.StatusCode); kind != nil {
		return api.Fault(kind, e.Error)
	}
	return errors.New(e.Error)
}
