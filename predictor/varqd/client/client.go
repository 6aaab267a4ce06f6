// Package client is a client of varqd's API. On varqd's own host it connects by the unix socket,
// where the kernel tells each end who is at the other end. From other hosts it connects by TCP,
// where munge credentials prove the same. varqd itself connects to other sites' varqds by TLS,
// where certificates prove it.
//
// Invariant: the client accepts answers only from varqd's user, or from the site that it asked.
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
	"net/http/httptrace"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/varqd/munge"
)

// DefaultTimeout bounds one request, credential included.
const DefaultTimeout = 2 * time.Second

// acceptTimeout bounds a request of Accept, in which varqd changes a job in Slurm, and of
// PromiseFlow, in which it may read hundreds. It is as long as varqd works on a request.
const acceptTimeout = 20 * time.Second

// relayTime is how much longer than a request may take that another site is to answer, this one's
// varqd may take to say that nobody does there.
const relayTime = time.Second

// Client asks one varqd. Its methods may be called at the same time. What they
// return as an error is a sentence for the user.
type Client struct {
	// Timeout bounds one request; New sets it to DefaultTimeout.
	Timeout time.Duration
	// User is whom varqd runs as, by name or id; New sets it to DefaultUser.
	User string
	// Site, if not empty, is the one that is meant, to whose varqd this one relays.
	Site string

	endpoint string
	base     string // of every URL
	http     http.Client
	munge    *munge.Munge           // on TCP
	trace    *httptrace.ClientTrace // on TLS
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

// Plan asks for a reservation: a promise, or a refusal. Of several sizes it may take longer than
// Timeout.
func (c *Client) Plan(ctx context.Context, r api.PlanRequest) (a api.PlanAnswer, err error) {
	err = c.doWithin(ctx, c.timeFor(&r), http.MethodPost, api.PathPlan, r, &a)
	return a, err
}

// Quote asks what Plan would promise, and promises nothing. It takes as long as Plan.
func (c *Client) Quote(ctx context.Context, r api.PlanRequest) (a api.PlanAnswer, err error) {
	err = c.doWithin(ctx, c.timeFor(&r), http.MethodPost, api.PathQuote, r, &a)
	return a, err
}

// probeTimeout bounds a request for which varqd makes many plans.
const probeTimeout = 10 * time.Second

// timeFor returns how long the plan of a request may take: one of several sizes as long as a Probe.
func (c *Client) timeFor(r *api.PlanRequest) time.Duration {
	if len(r.Sizes) > 1 {
		return max(c.Timeout, probeTimeout)
	}
	return c.Timeout
}

// Probe asks what Plan would promise in a window of time, for several sizes. It may take longer
// than Timeout.
func (c *Client) Probe(ctx context.Context, r api.ProbeRequest) (a api.ProbeAnswer, err error) {
	err = c.doWithin(ctx, max(c.Timeout, probeTimeout), http.MethodPost, api.PathProbe, r, &a)
	return a, err
}

// Size asks which of several sizes a job had better have that is submitted now. It may take longer
// than Timeout.
func (c *Client) Size(ctx context.Context, r api.SizeRequest) (a api.SizeAnswer, err error) {
	err = c.doWithin(ctx, max(c.Timeout, probeTimeout), http.MethodPost, api.PathSize, r, &a)
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

// Confirm confirms a tentative promise. Slurm may be slow to move the job: it may take longer than
// Timeout. To confirm again is safe.
func (c *Client) Confirm(ctx context.Context, a api.Confirmation) error {
	return c.doWithin(ctx, max(c.Timeout, acceptTimeout), http.MethodPost, api.PathConfirm, a, nil)
}

// Gate asks whether the work of a job may begin, which is a member of a group.
func (c *Client) Gate(ctx context.Context, g api.Gate) (a api.GateAnswer, err error) {
	err = c.do(ctx, http.MethodPost, api.PathGate, g, &a)
	return a, err
}

// QuoteGroup asks with what probability a group succeeds.
func (c *Client) QuoteGroup(ctx context.Context, r api.GroupRequest) (q api.GroupQuote, err error) {
	err = c.do(ctx, http.MethodPost, api.PathGroupQuote, r, &q)
	return q, err
}

// RegisterGroup has varqd keep a group from now on. To register it again changes nothing.
func (c *Client) RegisterGroup(ctx context.Context, r api.GroupRequest) (q api.GroupQuote, err error) {
	err = c.do(ctx, http.MethodPost, api.PathGroups, r, &q)
	return q, err
}

// CancelGroup gives a group up.
func (c *Client) CancelGroup(ctx context.Context, a api.GroupCancellation) error {
	return c.do(ctx, http.MethodPost, api.PathGroupCancel, a, nil)
}

// ClaimGroup asks the home of a group whether the work of a member may begin.
func (c *Client) ClaimGroup(ctx context.Context, m api.GroupClaim) (a api.GateAnswer, err error) {
	err = c.do(ctx, http.MethodPost, api.PathClaim, m, &a)
	return a, err
}

// GroupStates asks the home of groups what has become of them.
func (c *Client) GroupStates(ctx context.Context, q api.GroupsQuery) (s []api.GroupState, err error) {
	err = c.do(ctx, http.MethodPost, api.PathGroupStates, q, &s)
	return s, err
}

// Sites asks how the clusters are that have no varqd.
func (c *Client) Sites(ctx context.Context) (list []api.SiteState, err error) {
	err = c.do(ctx, http.MethodGet, api.PathSites, nil, &list)
	return list, err
}

// Delays asks how the delays of a site go. Only varqd's own user may.
func (c *Client) Delays(ctx context.Context) (d api.Delays, err error) {
	err = c.do(ctx, http.MethodGet, api.PathDelays, nil, &d)
	return d, err
}

// Accept agrees to a higher ceiling on the cost of idle nodes. Slurm may be slow to change the job:
// it may take longer than Timeout.
func (c *Client) Accept(ctx context.Context, a api.Acceptance) (r api.Accepted, err error) {
	err = c.doWithin(ctx, max(c.Timeout, acceptTimeout), http.MethodPost, api.PathAccept, a, &r)
	return r, err
}

// Reservations lists reservations that the asker may see, in the order of their deadlines: of more
// than api.MostPages the last. Timeout is that of one request, of which many reservations take
// several.
func (c *Client) Reservations(ctx context.Context, q api.ReservationsQuery) (list []api.Reservation, err error) {
	v := values{}
	v.text(api.ParamUser, q.User)
	v.number(api.ParamJob, q.Job)
	if q.All {
		v.text(api.ParamAll, "true")
	}
	v.text(api.ParamBefore, q.Before.String())
	v.selection(q.Selection)
	for {
		var page []api.Reservation
		err := c.do(ctx, http.MethodGet, v.path(api.PathReservations), nil, &page)
		switch {
		case len(list) > 0 && err != nil && strings.Contains(err.Error(), noSuch(api.ParamBefore)):
			return list, nil // an earlier version, which has answered all at once
		case err != nil:
			return nil, err
		}
		list = append(page, list...)
		if len(page) < api.LeastPage || len(list) >= api.MostPages {
			return list, nil
		}
		first := slices.MinFunc(page, func(a, b api.Reservation) int { return api.PlaceOf(&a).Compare(api.PlaceOf(&b)) })
		before := api.PlaceOf(&first)
		if q.Before != (api.Place{}) && before.Compare(q.Before) >= 0 {
			return nil, fmt.Errorf("%s answers what is not an answer: the same reservations again", c.whose())
		}
		q.Before = before
		v.text(api.ParamBefore, before.String())
	}
}

// Nodes asks for the nodes, and how probable it is that they fail.
func (c *Client) Nodes(ctx context.Context) (n api.Nodes, err error) {
	err = c.do(ctx, http.MethodGet, api.PathNodes, nil, &n)
	return n, err
}

// Risk asks how probable it is that one of the nodes fails, which are written as Slurm does:
// node[1-4],node7.
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
	err = c.doWithin(ctx, max(c.Timeout, probeTimeout), http.MethodPost, api.PathPredict, r, &p)
	return p, err
}

// When asks when jobs that wait are forecast to start and to end.
func (c *Client) When(ctx context.Context, q api.WhenQuery) (w api.When, err error) {
	err = c.doWithin(ctx, max(c.Timeout, probeTimeout), http.MethodPost, api.PathWhen, q, &w)
	return w, err
}

// PromiseFlow asks for a promise that the jobs of a flow have ended by a time, or for a quote.
func (c *Client) PromiseFlow(ctx context.Context, r api.FlowRequest) (a api.FlowAnswer, err error) {
	err = c.doWithin(ctx, max(c.Timeout, acceptTimeout), http.MethodPost, api.PathFlows, r, &a)
	return a, err
}

// Flows lists promises of flows.
func (c *Client) Flows(ctx context.Context, q api.FlowsQuery) (f api.Flows, err error) {
	err = c.do(ctx, http.MethodPost, api.PathFlowStates, q, &f)
	return f, err
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
	if c.Site != "" {
		timeout += relayTime
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	var body []byte
	if question != nil {
		var err error
		if body, err = json.Marshal(question); err != nil {
			return err
		}
	}
	uri := path
	if c.Site != "" {
		uri = api.PathRelay + c.Site + path
	}
	r, err := http.NewRequestWithContext(ctx, method, c.base+uri, bytes.NewReader(body))
	if err != nil {
		return err
	}
	if question != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	if until, _ := ctx.Deadline(); c.Site != "" {
		left := time.Until(until)
		r.Header.Set(api.Within, strconv.FormatInt(max(left-relayTime, left/2).Milliseconds(), 10))
	}
	var credential string
	if c.munge != nil {
		if credential, err = c.munge.Encode(ctx, api.RequestDigest(method, r.URL.RequestURI(), body)); err != nil {
			return fmt.Errorf("no credential for varqd: %w", err)
		}
		r.Header.Set("Authorization", "Munge "+credential)
	}
	got, err := c.exchange(r, timeout, mostOf(path, question))
	if err != nil {
		return err
	}
	if c.munge != nil {
		if err := c.verifyAnswer(ctx, credential, got); err != nil {
			return fmt.Errorf("%s: %w", c.endpoint, err)
		}
	}
	// A varqd in trouble answers for its health with an error's status. One that does not answer
	// for it, but for another site, has an error.
	if e := new(api.Error); got.code/100 != 2 && (path != api.PathHealth || json.Unmarshal(got.body, e) == nil && e.Error != "") {
		if err := c.apart(got); err != nil {
			return err
		}
		return c.newer(method, path, got)
	}
	if answer == nil {
		return nil
	}
	if err := json.Unmarshal(got.body, answer); err != nil {
		return fmt.Errorf("%s answers what is not an answer: %s", c.whose(), garbled(err))
	}
	return nil
}

// reply is an answer that has come whole.
type reply struct {
	code       int
	status     string // the code and its name
	credential string // that proves who answers
	apis       string // versions of the API that it speaks; empty of one that does not tell
	version    string // of varqd; empty of one that does not tell
	body       []byte
}

// exchange makes a request, and returns the answer, whose body has at most so many bytes. timeout
// is that of the request.
func (c *Client) exchange(r *http.Request, timeout time.Duration, most int64) (*reply, error) {
	if c.trace != nil {
		own := *c.trace // of this request alone: WithClientTrace adds to it what the context has
		r = r.WithContext(httptrace.WithClientTrace(r.Context(), &own))
	}
	resp, err := c.http.Do(r)
	if err != nil {
		return nil, c.unreachable(err, timeout)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, most+1))
	if err != nil {
		return nil, c.unreachable(err, timeout)
	}
	if int64(len(body)) > most {
		return nil, fmt.Errorf("%s answers with more than %d bytes", c.whose(), most)
	}
	return &reply{resp.StatusCode, resp.Status, resp.Header.Get(api.AnswerCredential), resp.Header.Get(api.APIs), resp.Header.Get(api.ServerVersion), body}, nil
}

// unreachable says in a few words why varqd did not answer.
func (c *Client) unreachable(err error, timeout time.Duration) error {
	why := err.Error()
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		why = wrapped.Err.Error()
	}
	// the endpoint is named already
	if dial, is := errors.AsType[*net.OpError](err); is && dial.Op == "dial" {
		why = dial.Err.Error()
		if number, is := errors.AsType[syscall.Errno](err); is {
			why = number.Error()
		}
	}
	var network net.Error // *url.Error before the answer has begun, another one while it is read
	if errors.As(err, &network) && network.Timeout() {
		why = fmt.Sprintf("no answer within %v; it may be busy, so ask again in a moment", timeout)
	}
	if strings.Contains(why, "malformed HTTP") {
		why = "what answers there does not speak HTTP"
	}
	at := c.endpoint
	if c.Site != "" { // of which that varqd would have told
		at += ", which is to relay to site " + c.Site
	}
	return &unreachableError{fmt.Sprintf("%v at %s: %s", ErrUnreachable, at, shown(why)), err}
}

// unreachableError is an ErrUnreachable with its cause.
type unreachableError struct {
	text  string
	cause error
}

func (u *unreachableError) Error() string   { return u.text }
func (u *unreachableError) Unwrap() []error { return []error{ErrUnreachable, u.cause} }

// refusal returns varqd's own words, as a fault of package api if they are of such a kind, or the
// HTTP status without them.
func (r *reply) refusal() error {
	var e api.Error
	if json.Unmarshal(r.body, &e) != nil || e.Error == "" {
		return fmt.Errorf("varqd answers %s", shown(r.status))
	}
	if kind := api.KindOf(r.code); kind != nil {
		return api.Fault(kind, shown(e.Error))
	}
	return errors.New(shown(e.Error))
}
