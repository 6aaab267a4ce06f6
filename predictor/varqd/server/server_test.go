package server

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/live/sqlitefile"
	"github.com/varq-project/varq/predictor/varqd/munge"
	"github.com/varq-project/varq/predictor/workload"
)

// fakeService answers with parts of the request, and records the users.
type fakeService struct {
	mu    sync.Mutex
	users []string
	taken chan string // plans taken back
	// reached is closed when the service is asked for a plan in the partition late.
	reached chan struct{}
	// probing, if not nil, is told of each probe, which is answered when probed says so.
	probing, probed chan struct{}
	// gating, if not nil, is told of each question at the gate, which is answered when gated says
	// so.
	gating, gated chan struct{}
}

func (s *fakeService) seen(user string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.users = append(s.users, user)
}

func (s *fakeService) Plan(ctx context.Context, user string, req *api.PlanRequest, promise bool) (api.PlanAnswer, error) {
	s.seen(user)
	switch req.Job.Partition {
	case "panic":
		panic("on purpose")
	case "broken":
		return api.PlanAnswer{}, errors.New("secret detail")
	case "full":
		return api.PlanAnswer{}, fmt.Errorf("ledger: %w: secret detail", sqlitefile.ErrUnwritten)
	case "busy":
		return api.PlanAnswer{}, api.Fault(api.ErrUnavailable, "still loading history: 42%")
	case "slow":
		<-ctx.Done()
		return api.PlanAnswer{}, ctx.Err()
	case "late":
		close(s.reached)
		<-ctx.Done()
	}
	plan := &api.Plan{BeginBy: req.BeginBy, Comment: req.Job.User}
	if promise {
		plan.ID = "aaaaaaaaaaaa"
	}
	return api.PlanAnswer{Plan: plan}, nil
}

func (s *fakeService) Bind(_ context.Context, user string, b api.Binding) error {
	s.seen(user)
	if b.Job == 9 {
		return api.Fault(api.ErrConflict, "the plan has a job already")
	}
	return nil
}

func (s *fakeService) Probe(_ context.Context, user string, req *api.ProbeRequest) (api.ProbeAnswer, error) {
	s.seen(user)
	if s.probing != nil {
		s.probing <- struct{}{}
		<-s.probed
	}
	size := req.Sizes[0]
	return api.ProbeAnswer{Slots: []api.Slot{{Start: req.Earliest, End: req.Earliest + size.Limit, Nodes: size.Nodes, Limit: size.Limit}}}, nil
}

func (s *fakeService) Size(_ context.Context, user string, req *api.SizeRequest) (api.SizeAnswer, error) {
	s.seen(user)
	wait := 60.
	return api.SizeAnswer{Sizes: []api.SizeForecast{{Nodes: req.Sizes[0].Nodes, Limit: req.Sizes[0].Limit, Wait: &wait}}}, nil
}

func (s *fakeService) Confirm(_ context.Context, user string, c api.Confirmation) error {
	s.seen(user)
	if c.Plan == "bbbbbbbbbbbb" {
		return api.Fault(api.ErrConflict, "the promise was not confirmed in time")
	}
	return nil
}

func (s *fakeService) Cancel(_ context.Context, user string, c api.Cancellation) error {
	s.seen(user)
	if c.Plan == "bbbbbbbbbbbb" {
		return api.Fault(api.ErrConflict, "the plan has a job")
	}
	if s.taken != nil {
		s.taken <- c.Plan
	}
	return nil
}

func (s *fakeService) When(_ context.Context, user string, q api.WhenQuery) (api.When, error) {
	return api.When{Jobs: []api.Waiting{{Job: 7, User: user, Partition: strings.Join(q.Partitions, ",")}}}, nil
}

func (s *fakeService) PromiseFlow(_ context.Context, user string, req api.FlowRequest) (api.FlowAnswer, error) {
	return api.FlowAnswer{Promised: &api.FlowPromise{User: user, Jobs: req.Jobs}}, nil
}

func (s *fakeService) Flows(context.Context, string, api.FlowsQuery) (api.Flows, error) {
	return api.Flows{}, nil
}

func (s *fakeService) Gate(_ context.Context, user string, g api.Gate) (api.GateAnswer, error) {
	s.seen(user)
	if s.gating != nil {
		s.gating <- struct{}{}
		<-s.gated
	}
	return api.GateAnswer{Answer: api.GateGo, At: g.Job}, nil
}

func (s *fakeService) QuoteGroup(_ context.Context, user string, r api.GroupRequest) (api.GroupQuote, error) {
	s.seen(user)
	return api.GroupQuote{Prob: r.Members[0].Prob}, nil
}

func (s *fakeService) RegisterGroup(ctx context.Context, user string, r api.GroupRequest) (api.GroupQuote, error) {
	return s.QuoteGroup(ctx, user, r)
}

func (s *fakeService) CancelGroup(_ context.Context, user string, _ api.GroupCancellation) error {
	s.seen(user)
	return api.Fault(api.ErrNotFound, "there is no such group")
}

func (s *fakeService) ClaimGroup(_ context.Context, user string, c api.GroupClaim) (api.GateAnswer, error) {
	s.seen(user)
	return api.GateAnswer{Answer: api.GateLost, Why: c.User}, nil
}

func (s *fakeService) GroupStates(_ context.Context, user string, q api.GroupsQuery) ([]api.GroupState, error) {
	s.seen(user)
	return []api.GroupState{{Group: q.Groups[0], Open: true}}, nil
}

func (s *fakeService) Sites(_ context.Context, user string) ([]api.SiteState, error) {
	s.seen(user)
	return []api.SiteState{{Site: "beta", Method: "load", OK: true, Since: 7}}, nil
}

func (s *fakeService) Delays(_ context.Context, user string) (api.Delays, error) {
	s.seen(user)
	return api.Delays{Windows: []api.DelayWindow{{Hour: 7, Jobs: 1}}}, nil
}

func (s *fakeService) Accept(_ context.Context, user string, a api.Acceptance) (api.Accepted, error) {
	s.seen(user)
	if a.Job == 9 {
		return api.Accepted{}, api.Fault(api.ErrConflict, "job 9 needs no more")
	}
	return api.Accepted{Reservation: api.Reservation{Job: a.Job, Ceiling: a.Worst}, Moved: true}, nil
}

func (s *fakeService) Limits(_ context.Context, user string) (api.Limits, error) {
	s.seen(user)
	return api.Limits{User: user, Open: 3, Rules: []api.LimitRule{}}, nil
}

func (s *fakeService) Risk(_ context.Context, _ string, nodes []string) (api.Risk, error) {
	return api.Risk{At: 7, Nodes: len(nodes)}, nil
}

func (s *fakeService) Nodes(_ context.Context, user string) (api.Nodes, error) {
	s.seen(user)
	return api.Nodes{At: 7, Nodes: []api.Node{{Name: "n1", Risk: .25, State: "up"}}}, nil
}

func (s *fakeService) NodesCalibration(_ context.Context, q api.NodesCalibrationQuery) (api.NodesCalibration, error) {
	return api.NodesCalibration{Rows: []api.NodesCalibrationRow{{Forecasts: int(q.End - q.Start)}}}, nil
}

func (s *fakeService) Reservations(_ context.Context, user string, q api.ReservationsQuery) ([]api.Reservation, error) {
	s.seen(user)
	if q.User == "bob" {
		return nil, api.Fault(api.ErrForbidden, "not yours")
	}
	if q.Before.Plan == "mmmmmmmmmmmm" { // many
		list := make([]api.Reservation, api.MostPage)
		for i := range list {
			list[i] = api.Reservation{Job: q.Before.Deadline - int64(len(list)-i), Note: strings.Repeat("<", 1000)}
		}
		return list, nil
	}
	if q.Job == 0 {
		return nil, nil
	}
	return []api.Reservation{{User: user, Job: q.Job}}, nil
}

func (s *fakeService) Report(_ context.Context, user string, q api.ReportQuery) (api.Report, error) {
	s.seen(user)
	return api.Report{By: q.By}, nil
}

func (s *fakeService) Calibration(_ context.Context, _ string, q api.CalibrationQuery) (api.Calibration, error) {
	return api.Calibration{By: q.By}, nil
}

func (s *fakeService) Shadow(_ context.Context, q api.ShadowQuery) (api.Shadow, error) {
	return api.Shadow{From: q.Start, To: q.End}, nil
}

func (s *fakeService) Predict(_ context.Context, user string, req *api.PredictRequest) (api.Prediction, error) {
	s.seen(user)
	return api.Prediction{Job: req.Job}, nil
}

// Vitals notes who says what, and from where.
func (s *fakeService) Vitals(_ context.Context, user string, from []netip.Addr, v api.Vitals) error {
	s.seen(fmt.Sprint(user, " ", from, " ", v.Node))
	return nil
}

func (s *fakeService) Health(context.Context) api.Health { return api.Health{OK: true, History: 7} }

// fakeMunge accepts "UID PAYLOAD" as a credential, and "UID PAYLOAD HOST", each only once. It never
// comes to an end with the credential hang.
type fakeMunge struct {
	mu      sync.Mutex
	used    map[string]bool
	hanging int
}

func (m *fakeMunge) Decode(ctx context.Context, credential string) (munge.Maker, []byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if credential == hang {
		m.hanging++
		m.mu.Unlock()
		<-ctx.Done()
		m.mu.Lock()
		m.hanging--
		return munge.Maker{}, nil, ctx.Err()
	}
	var payload []byte
	host := "127.0.0.1"
	maker := munge.Maker{}
	if n, err := fmt.Sscanf(credential, "%d %x %s", &maker.UID, &payload, &host); n < 2 {
		return munge.Maker{}, nil, fmt.Errorf("%w: %w", munge.ErrInvalid, err)
	}
	maker.Host = netip.MustParseAddr(host)
	if m.used[credential] {
		return munge.Maker{}, nil, fmt.Errorf("%w: replayed", munge.ErrInvalid)
	}
	m.used[credential] = true
	return maker, payload, nil
}

func (m *fakeMunge) Encode(_ context.Context, payload []byte) (string, error) {
	return fmt.Sprintf("%d %x", os.Getuid(), payload), nil
}

const hang = "hang"

// fixture is a server on a unix socket and on TCP.
type fixture struct {
	t       testing.TB
	service *fakeService
	munge   *fakeMunge
	socket  string
	address string
	local   *http.Client
}

func start(t testing.TB) *fixture { return startWith(t, readTime) }

// startWith starts it with another time to read a request, and with further metrics.
func startWith(t testing.TB, readTime time.Duration, metrics ...prometheus.Collector) *fixture {
	f := &fixture{t: t, service: &fakeService{}, munge: &fakeMunge{used: map[string]bool{}}, socket: filepath.Join(t.TempDir(), "socket")}
	registry := prometheus.NewRegistry()
	registry.MustRegister(metrics...)
	s := New(Options{
		Service: f.service, Credentials: f.munge,
		UserName: func(uid uint32) (string, error) {
			if uid == 404 {
				return "", errors.New("no such user")
			}
			return fmt.Sprintf("user%d", uid), nil
		},
		Log: slog.New(slog.DiscardHandler), Metrics: registry,
	})
	s.http.ReadTimeout = readTime
	unix, err := ListenUnix(f.socket)
	if err != nil {
		t.Fatal(err)
	}
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f.address = tcp.Addr().String()
	var serving sync.WaitGroup
	for _, l := range []net.Listener{unix, tcp} {
		serving.Go(func() {
			if err := s.Serve(l); err != nil {
				t.Error(err)
			}
		})
	}
	f.local = f.client()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
		defer cancel()
		if err := s.Shutdown(ctx); err != nil {
			t.Error(err)
		}
		serving.Wait()
	})
	return f
}

// client returns a client of the unix socket.
func (f *fixture) client() *http.Client {
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", f.socket)
	}}
	f.t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

func ask(t testing.TB, client *http.Client, method, url, body string, header ...string) (status int, answer string) {
	t.Helper()
	req, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

func (f *fixture) post(path, body string) (int, string) {
	f.t.Helper()
	return ask(f.t, f.local, http.MethodPost, "http://varqd"+path, body)
}

func (f *fixture) get(path string) (int, string) {
	f.t.Helper()
	return ask(f.t, f.local, http.MethodGet, "http://varqd"+path, "")
}

func TestTheSocketKnowsTheUser(t *testing.T) {
	f := start(t)
	me := fmt.Sprintf("user%d", os.Getuid())
	status, answer := f.post(api.PathPlan, `{"job":{"nodes":1,"cpus":1,"limit":60},"begin_by":1800000000}`)
	if status != 200 || !strings.Contains(answer, `"comment":"`+me+`"`) || !strings.Contains(answer, "aaaaaaaaaaaa") {
		t.Errorf("%d %s", status, answer)
	}
	status, answer = f.post(api.PathQuote, `{"job":{"user":"`+me+`","nodes":1,"cpus":1,"limit":60},"begin_by":1800000000}`)
	if status != 200 || strings.Contains(answer, "aaaaaaaaaaaa") {
		t.Errorf("%d %s", status, answer)
	}
	if status, answer = f.post(api.PathPlan, `{"job":{"user":"mallory"},"begin_by":1800000000}`); status != 400 || !strings.Contains(answer, "job.user") {
		t.Errorf("%d %s", status, answer)
	}
	// On the unix socket the kernel identifies the user. A credential has no effect there.
	status, answer = ask(t, f.local, http.MethodGet, "http://varqd"+api.PathReservations+"?job=3", "", "Authorization", "Munge 1000 00")
	if status != 200 || !strings.Contains(answer, `"user":"`+me+`"`) {
		t.Errorf("%d %s", status, answer)
	}
	if info, err := os.Stat(f.socket); err != nil || info.Mode().Perm() != 0o666 {
		t.Errorf("socket %v %v", info.Mode(), err)
	}
}

func TestTheCredentialKnowsTheUser(t *testing.T) {
	f := start(t)
	uri := api.PathReservations + "?job=3"
	credential := func(uid int, method, uri, body string) string {
		return fmt.Sprintf("Munge %d %x", uid, api.RequestDigest(method, uri, []byte(body)))
	}
	good := credential(1000, "GET", uri, "")
	for _, c := range []struct {
		name, credential string
		status           int
	}{
		{"none", "", 401},
		{"another kind", "Bearer x", 401},
		{"nonsense", "Munge x", 401},
		{"good", good, 200},
		{"replayed", good, 401},
		{"of another path", credential(1000, "GET", api.PathReport, ""), 401},
		{"of another query", credential(1000, "GET", api.PathReservations+"?job=4", ""), 401},
		{"of another method", credential(1000, "POST", uri, ""), 401},
		{"of another body", credential(1000, "GET", uri, "x"), 401},
		{"of nobody", credential(404, "GET", uri, ""), 401},
	} {
		status, answer := ask(t, http.DefaultClient, "GET", "http://"+f.address+uri, "", "Authorization", c.credential)
		if status != c.status {
			t.Errorf("%s: %d %s, want %d", c.name, status, answer, c.status)
		}
	}
	for _, user := range f.service.users {
		if user != "user1000" {
			t.Errorf("the service was asked as %s", user)
		}
	}
	// Public resources need no credential.
	for _, path := range []string{api.PathHealth, api.PathMetrics, api.PathOpenAPI} {
		if status, _ := ask(t, http.DefaultClient, "GET", "http://"+f.address+path, ""); status != 200 {
			t.Errorf("%s: %d", path, status)
		}
	}
}

// Nobody asks in another's name, whatever he proves of himself.
func TestTheHeaderOfSitesIsForSites(t *testing.T) {
	f := start(t)
	uri := api.PathReservations + "?job=3"
	credential := fmt.Sprintf("Munge 1000 %x", api.RequestDigest("GET", uri, nil))
	for name, c := range map[string]struct {
		client *http.Client
		url    string
	}{"socket": {f.local, "http://varqd"}, "TCP": {http.DefaultClient, "http://" + f.address}} {
		for _, path := range []string{uri, api.PathHealth, "/v1/sites/beta" + uri, "/nowhere"} {
			status, answer := ask(t, c.client, "GET", c.url+path, "", "Authorization", credential, api.ForUser, "user7")
			if status != 403 || !strings.Contains(answer, "only the varqd of another site may ask for others") {
				t.Errorf("by %s %s: %d %s", name, path, status, answer)
			}
		}
	}
	// Where there are no sites, nothing is relayed.
	if status, answer := f.get("/v1/sites/beta" + uri); status != 404 || !strings.Contains(answer, "relays to no site") {
		t.Errorf("%d %s", status, answer)
	}
	if len(f.service.users) > 0 {
		t.Errorf("the service was asked as %s", f.service.users)
	}
}

func TestErrorsNameTheField(t *testing.T) {
	f := start(t)
	for _, c := range []struct {
		path, body string
		status     int
		want       string
	}{
		{api.PathPlan, ``, 400, "not valid JSON"},
		{api.PathPlan, `{"begin_by":1800000000} x`, 400, "goes on after its end"},
		{api.PathPlan, `{"begin_by":1800000000,"beginby":1}`, 400, "beginby: no such field"},
		{api.PathPlan, `{"begin_by":"soon"}`, 400, "begin_by: a string does not fit"},
		{api.PathPlan, `{"job":{"nodes":1e99},"begin_by":1800000000}`, 400, "job.nodes: a number 1e99 does not fit"},
		{api.PathPlan, `{"job":{"nodes":-1},"begin_by":1800000000}`, 400, "job.nodes: -1"},
		{api.PathPlan, `{"job":{"limit":99999999999},"begin_by":1800000000}`, 400, "job.limit"},
		{api.PathPlan, `{"job":{"account":"a\u0000b"},"begin_by":1800000000}`, 400, "job.account"},
		{api.PathPlan, `{"job":{"qos":"` + strings.Repeat("q", 300) + `"},"begin_by":1800000000}`, 400, "job.qos"},
		{api.PathPlan, `{}`, 400, "begin_by: is missing"},
		{api.PathPlan, `{"begin_by":1800000000,"prob":1}`, 400, "prob: 1 is not a probability"},
		{api.PathPlan, `{"begin_by":1800000000,"prob":-0.5}`, 400, "prob"},
		{api.PathPlan, `{"begin_by":1800000000,"begin_after":1800000001}`, 400, "begin_after: 1800000001 is after begin_by, 1800000000"},
		{api.PathPlan, `{"begin_by":1800000000,"begin_after":1700000001,"best_effort":true}`, 400, "begin_after: does not go together with best_effort"},
		{api.PathPlan, `{"finish_by":1800000000,"begin_by":1700000001}`, 400, "finish_by: does not go together with begin_by"},
		{api.PathPlan, `{"risk":0.9,"best_effort":true}`, 400, "best_effort: does not go together with risk"},
		{api.PathPlan, `{"finish_by":1800000000,"max_cost":{"times":2}}`, 400, "max_cost: does not go together with finish_by"},
		{api.PathPlan, `{"finish_by":-1}`, 400, "finish_by: -1 is not a time"},
		{api.PathPlan, `{"finish_by":1800000000,"risk":1.5}`, 400, "risk: 1.5 is not a probability"},
		{api.PathPlan, `{"risk":-0.5}`, 400, "risk: -0.5 is not a probability"},
		{api.PathPlan, `{"risk":0.9,"checkpoint_interval":-1}`, 400, "checkpoint_interval: -1 is not between"},
		{api.PathPlan, `{"begin_by":1800000000,"checkpoint_interval":60}`, 400, "checkpoint_interval: needs finish_by"},
		{api.PathPlan, `{"begin_by":1800000000,"on_miss":"cry"}`, 400, "on_miss"},
		{api.PathPlan, `{"x":"` + strings.Repeat("x", maxBody) + `"}`, 413, "larger than"},
		{api.PathPlan, `{"job":{"partition":"panic"},"begin_by":1800000000}`, 500, "internal error"},
		{api.PathPlan, `{"job":{"partition":"broken"},"begin_by":1800000000}`, 500, "internal error"},
		{api.PathPlan, `{"job":{"partition":"full"},"begin_by":1800000000}`, 503, "varqd could not write that down"},
		{api.PathPlan, `{"job":{"partition":"busy"},"begin_by":1800000000}`, 503, "42%"},
		{api.PathPlan, `{"begin_by":1800000000,"needs":{"constraint":"ib"}}`, 200, ""},
		{api.PathPlan, `{"begin_by":1800000000,"needs":{"features":"ib"}}`, 400, "features: no such field"},
		{api.PathPlan, `{"begin_by":1800000000,"needs":{"constraint":"` + strings.Repeat("a", 5000) + `"}}`, 400, "needs.constraint: it is longer than 4096 bytes"},
		{api.PathPlan, `{"begin_by":1800000000,"needs":{"exclude":{"names":["a\u0007"],"option":""}}}`, 400, "needs.exclude: it has characters"},
		{api.PathPlan, `{"begin_by":1800000000,"needs":{"most_nodes":-1}}`, 400, "needs.most_nodes: -1 is not between"},
		{api.PathPlan, `{"begin_by":1800000000,"needs":{"gres":[` + strings.Repeat(`{"name":"gpu","count":1,"option":""},`, 64) + `{"name":"gpu","count":1,"option":""}]}}`, 400, "needs.gres: 65 are more than 64"},
		{api.PathBind, `{"plan":"x","job":1}`, 400, "plan: "},
		{api.PathBind, `{"plan":"aaaaaaaaaaaa","job":0}`, 400, "job: 0"},
		{api.PathBind, `{"plan":"aaaaaaaaaaaa","job":9}`, 409, "has a job already"},
		{api.PathBind, `{"plan":"aaaaaaaaaaaa","job":1}`, 204, ""},
		{api.PathProbe, `{"sizes":[{"nodes":4,"limit":3600}],"earliest":1800000000,"latest":1800010000,"slots":10}`, 200, ""},
		{api.PathProbe, `{"sizes":[{"nodes":4,"limit":3600}],"earliest":1800000000,"finish_by":1800000000,"slots":10}`, 400, "finish_by: 1800000000 is not after earliest, 1800000000"},
		{api.PathProbe, `{"sizes":[{"nodes":4,"limit":3600}],"latest":1800010000,"slots":10,"max_cost":{"times":2}}`, 200, ""},
		{api.PathProbe, `{"sizes":[{"nodes":4,"limit":3600}],"latest":1800010000,"slots":10,"max_cost":{"times":0.5}}`, 400, "max_cost.times: 0.5 is not between"},
		{api.PathProbe, `{"sizes":[],"earliest":1800000000,"latest":1800010000,"slots":10}`, 400, "sizes: there are none"},
		{api.PathProbe, `{"sizes":[{"nodes":0,"limit":3600}],"earliest":1800000000,"latest":1800010000,"slots":10}`, 400, "sizes[0]: 0 nodes"},
		{api.PathProbe, `{"sizes":[{"nodes":4,"limit":3600},{"nodes":-4,"limit":3600}],"earliest":1800000000,"latest":1800010000,"slots":10}`, 400, "sizes[1].nodes: -4"},
		{api.PathProbe, `{"sizes":[{"nodes":4,"limit":3600}],"earliest":1800000000,"latest":1799999999,"slots":10}`, 400, "latest: 1799999999 is before earliest, 1800000000"},
		{api.PathProbe, `{"sizes":[{"nodes":4,"limit":3600}],"earliest":1800000000,"latest":0,"slots":10}`, 400, "latest: is missing: say"},
		{api.PathProbe, `{"sizes":[{"nodes":4,"limit":3600}],"earliest":-5,"latest":1800010000,"slots":10}`, 400, "earliest: -5 is not a time"},
		{api.PathProbe, `{"sizes":[{"nodes":4,"limit":3600}],"earliest":1800000000,"latest":1800010000,"slots":1001}`, 400, "slots: 1001"},
		{api.PathProbe, `{"sizes":[{"nodes":4,"limit":3600}],"earliest":1800000000,"latest":1800010000,"slots":10,"prob":1}`, 400, "prob: 1 is not a probability"},
		{api.PathProbe, `{"sizes":[{"nodes":4,"limit":3600}],"earliest":1800000000,"latest":1800010000,"slots":10,"gap":-1}`, 400, "gap: -1"},
		{api.PathProbe, `{"sizes":[{"nodes":4,"limit":3600}],"earliest":1800000000,"latest":1800010000,"slots":10,"partitions":["a\u0007"]}`, 400, "partitions[0]: it has characters"},
		{api.PathSize, `{"sizes":[{"nodes":4,"limit":3600}],"by":"auto"}`, 200, ""},
		{api.PathSize, `{"sizes":[],"by":"auto"}`, 400, "sizes: there are none"},
		{api.PathSize, `{"sizes":[{"nodes":4,"limit":3600},{"nodes":4,"limit":60}],"by":"auto"}`, 400, "sizes[1]: there are two of 4 nodes"},
		{api.PathSize, `{"sizes":[{"nodes":4,"limit":3600}]}`, 400, "by: "},
		{api.PathSize, `{"sizes":[{"nodes":4,"limit":3600}],"by":"auto","aversion":101}`, 400, "aversion: 101"},
		{api.PathSize, `{"sizes":[{"nodes":4,"limit":3600}],"by":"auto","aversion":0.2,"reconsider":true,"tasks_per_node":2}`, 200, ""},
		{api.PathSize, `{"sizes":[{"nodes":4,"limit":3600}],"by":"cost","aversion":0.2}`, 400, "aversion: goes"},
		{api.PathSize, `{"sizes":[{"nodes":4,"limit":3600}],"by":"cost","reconsider":true}`, 400, "reconsider: goes"},
		{api.PathSize, `{"sizes":[{"nodes":4,"limit":3600}],"by":"auto","tasks_per_node":-1}`, 400, "tasks_per_node: -1"},
		{api.PathConfirm, `{"plan":"x","job":7}`, 400, "plan: "},
		{api.PathConfirm, `{"plan":"aaaaaaaaaaaa"}`, 400, "job: 0 is not a job id"},
		{api.PathConfirm, `{"plan":"bbbbbbbbbbbb","job":7}`, 409, "not confirmed in time"},
		{api.PathConfirm, `{"plan":"aaaaaaaaaaaa","job":7}`, 204, ""},
		{api.PathPlan, `{"begin_by":1800000000,"tentative":60,"group":"gggggggggggg","home":"alpha"}`, 200, ``},
		{api.PathPlan, `{"begin_by":1800000000,"group":"gggggggggggg"}`, 400, `group: needs tentative`},
		{api.PathPlan, `{"begin_by":1800000000,"tentative":60,"group":"gggggggggggg","group_prob":0.9}`, 200, ``},
		{api.PathPlan, `{"begin_by":1800000000,"tentative":60,"group":"gggggggggggg","group_prob":1}`, 400, `group_prob: 1 is not a probability`},
		{api.PathPlan, `{"begin_by":1800000000,"tentative":60,"group_prob":0.9}`, 400, `group_prob: needs group`},
		{api.PathPlan, `{"finish_by":1800000000,"group_prob":0.9}`, 400, `group_prob: does not go together with finish_by`},
		{api.PathPlan, `{"begin_by":1800000000,"tentative":60,"group":"x"}`, 400, `group: \"x\" is not`},
		{api.PathPlan, `{"begin_by":1800000000,"tentative":60,"home":"alpha"}`, 400, `group: \"\" is not`},
		{api.PathPlan, `{"begin_by":1800000000,"tentative":60,"group":"gggggggggggg","home":"tcp://evil:1"}`, 400, `home: \"tcp://evil:1\" is not the name of a site`},
		{api.PathPlan, `{"finish_by":1800000000,"group":"gggggggggggg"}`, 400, `group: does not go together with finish_by`},
		{api.PathGate, `{"plan":"aaaaaaaaaaaa","job":7}`, 200, `"answer":"go"`},
		{api.PathGate, `{"plan":"x","job":7}`, 400, `plan: `},
		{api.PathGate, `{"plan":"aaaaaaaaaaaa"}`, 400, `job: 0 is not a job id`},
		{api.PathGroupQuote, `{"kind":"any","deadline":1800000000,"members":[{"site":"alpha","prob":0.5}]}`, 200, `0.5`},
		{api.PathGroupQuote, `{"kind":"all","deadline":1800000000,"members":[{"site":"alpha","prob":0.5,"part":1},{"site":"beta","prob":0.5,"part":1}]}`, 200, `0.5`},
		{api.PathGroupQuote, `{"kind":"all","deadline":1800000000,"members":[{"site":"alpha","prob":0.5,"part":17}]}`, 400, `members.part: 17 is not between 0 and 16`},
		{api.PathGroupQuote, `{"kind":"all","deadline":1800000000,"members":[{"site":"alpha","prob":0.5,"part":-1}]}`, 400, `members.part: -1 is not between 0 and 16`},
		{api.PathGroupQuote, `{"kind":"any","deadline":1800000000,"members":[{"site":"alpha","prob":0.5,"part":1}]}`, 400, `members.part: does not go together with kind any`},
		{api.PathGroupQuote, `{"kind":"some","deadline":1800000000,"members":[{"site":"alpha","prob":0.5}]}`, 400, `kind: \"some\" is neither any nor all`},
		{api.PathGroupQuote, `{"kind":"any","members":[{"site":"alpha","prob":0.5}]}`, 400, `deadline: 0 is not a time`},
		{api.PathGroupQuote, `{"kind":"any","deadline":1800000000,"members":[]}`, 400, `members: 0 is not between 1 and 16`},
		{api.PathGroupQuote, `{"kind":"any","deadline":1800000000,"prob":1,"members":[{"prob":0.5}]}`, 400, `prob: 1 is not a probability`},
		{api.PathGroupQuote, `{"kind":"any","deadline":1800000000,"members":[{"site":"A","prob":0.5}]}`, 400, `members.site: \"A\"`},
		{api.PathGroupQuote, `{"kind":"any","deadline":1800000000,"members":[{"site":"alpha","prob":0}]}`, 400, `members.prob: 0 is not a probability`},
		{api.PathGroupQuote, `{"kind":"any","deadline":1800000000,"members":[{"partition":"a\u0007","prob":0.5}]}`, 400, `members.partition: it has characters`},
		{api.PathGroups, `{"id":"gggggggggggg","kind":"all","deadline":1800000000,"members":[{"site":"alpha","plan":"aaaaaaaaaaaa","job":7,"prob":0.5}]}`, 200, `0.5`},
		{api.PathGroups, `{"id":"x","kind":"all","deadline":1800000000,"members":[{"site":"alpha","plan":"aaaaaaaaaaaa","job":7,"prob":0.5}]}`, 400, `group: `},
		{api.PathGroups, `{"id":"gggggggggggg","kind":"all","deadline":1800000000,"members":[{"site":"alpha","prob":0.5}]}`, 400, `plan: `},
		{api.PathGroups, `{"id":"gggggggggggg","kind":"all","deadline":1800000000,"members":[{"plan":"aaaaaaaaaaaa","job":7,"prob":0.5},{"plan":"aaaaaaaaaaaa","job":8,"prob":0.5}]}`, 400, `members: aaaaaaaaaaaa is there twice`},
		{api.PathGroupCancel, `{"group":"x"}`, 400, `group: `},
		{api.PathGroupCancel, `{"group":"gggggggggggg"}`, 404, `there is no such group`},
		{api.PathClaim, `{"group":"gggggggggggg","plan":"aaaaaaaaaaaa","job":7,"user":"alice"}`, 200, `"why":"alice"`},
		{api.PathClaim, `{"group":"x","plan":"aaaaaaaaaaaa","job":7,"user":"alice"}`, 400, `group: `},
		{api.PathClaim, `{"group":"gggggggggggg","plan":"aaaaaaaaaaaa","job":7}`, 400, `user: is missing`},
		{api.PathClaim, `{"group":"gggggggggggg","plan":"aaaaaaaaaaaa","job":7,"user":"a\u0007"}`, 400, `user: it has characters`},
		{api.PathClaim, `{"group":"gggggggggggg","plan":"x","job":7,"user":"alice"}`, 400, `plan: `},
		{api.PathGroupStates, `{"groups":["gggggggggggg"]}`, 200, `"open":true`},
		{api.PathGroupStates, `{"groups":["x"]}`, 400, `group: `},
		{api.PathGroupStates, `{"groups":[` + strings.Repeat(`"gggggggggggg",`, 1000) + `"gggggggggggg"]}`, 400, "groups: 1001 are more than 1000"},
		{api.PathCancel, `{"plan":"x"}`, 400, "plan: "},
		{api.PathCancel, `{"plan":"aaaaaaaaaaaa","job":1}`, 400, "job: no such field"},
		{api.PathCancel, `{"plan":"bbbbbbbbbbbb"}`, 409, "has a job"},
		{api.PathCancel, `{"plan":"aaaaaaaaaaaa"}`, 204, ""},
		{api.PathAccept, `{"job":0}`, 400, "job: 0"},
		{api.PathAccept, `{"job":7,"worst":{"node_seconds":-1}}`, 400, "worst.node_seconds: -1"},
		{api.PathAccept, `{"job":9}`, 409, "needs no more"},
		{api.PathAccept, `{"job":7,"worst":{"node_seconds":3600}}`, 200, "3600"},
		{api.PathPlan, `{"begin_by":1,"max_cost":{"times":0.5}}`, 400, "max_cost.times: 0.5"},
		{api.PathPlan, `{"begin_by":1,"max_cost":{"node_seconds":-1}}`, 400, "max_cost.node_seconds: -1"},
		{api.PathPlan, `{"begin_by":1,"max_cost":{"node_seconds":1,"times":2}}`, 400, "max_cost.times: does not go together"},
		{api.PathPredict, `{"quantiles":[0.5,2]}`, 400, "quantiles[1]"},
		{api.PathPredict, `{"forecaster":"oracle"}`, 400, "is not downey"},
		{api.PathPredict, `{"quantiles":[` + strings.Repeat("0.5,", 64) + `0.5]}`, 400, "65 are more than 64"},
		{api.PathPredict, `{}`, 200, "job"},
		{"/v1/nothing", `{}`, 404, "there is no POST /v1/nothing"},
		{api.PathReport, `{}`, 404, "there is no POST"},
	} {
		status, answer := f.post(c.path, c.body)
		if status != c.status || !strings.Contains(answer, c.want) {
			t.Errorf("POST %s %.60s: %d %s, want %d %s", c.path, c.body, status, answer, c.status, c.want)
		}
		if strings.Contains(answer, "secret detail") {
			t.Error("an internal error reached the user")
		}
		var e api.Error
		if status >= 400 && (json.Unmarshal([]byte(answer), &e) != nil || e.Error == "") {
			t.Errorf("POST %s: %q is not an api.Error", c.path, answer)
		}
	}
	for query, want := range map[string]string{
		"": "200 []", "?job=3": `200 [{`, "?user=bob": "403", "?job=x": "400", "?job=-1": "400", "?all=perhaps": "400",
		"?jobs=3": "400", "?job=1&job=2": "400", "?all=true": "200",
		"?start=1&end=2&account=a,b&partition=p&state=KEPT,MISSED": "200", "?state=LATE": "400", "?state=kept": "400", "?account=a,,b": "400",
		"?partition=%00": "400", "?start=2&end=1": "400", "?account=a&account=b": "400",
		"?account=" + strings.Repeat("a,", api.MaxNames-1) + "a": "200", "?account=" + strings.Repeat("a,", api.MaxNames) + "a": "400",
		"?account=" + strings.Repeat("a", api.MaxName+1): "400",
	} {
		status, answer := f.get(api.PathReservations + query)
		if got := fmt.Sprint(status, " ", answer); !strings.HasPrefix(got, want) {
			t.Errorf("GET reservations%s: %s, want %s", query, got, want)
		}
	}
	for query, want := range map[string]int{"": 200, "?by=month&start=1&end=2": 200, "?by=planet": 400, "?account=a&partition=p,q&state=OPEN": 400, "?account=a&partition=p,q&state=MISSED": 200} {
		if status, answer := f.get(api.PathReport + query); status != want {
			t.Errorf("GET report%s: %d %s, want %d", query, status, answer, want)
		}
	}
	for query, want := range map[string]int{
		"": 200, "?by=class&start=1&end=2&forecaster=blend&partition=gpu&class=nodes%3D1": 200, "?by=user": 400, "?user=bob": 400, "?class=%00": 400,
	} {
		if status, answer := f.get(api.PathCalibration + query); status != want {
			t.Errorf("GET calibration%s: %d %s, want %d", query, status, answer, want)
		}
	}
	for query, want := range map[string]string{"": `200 {"rows":[{`, "?start=1&end=4": `"forecasts":3`, "?start=-1": "400", "?by=class": "400"} {
		status, answer := f.get(api.PathNodesScores + query)
		if got := fmt.Sprint(status, " ", answer); !strings.Contains(got, want) {
			t.Errorf("GET calibration of the nodes%s: %s, want %s", query, got, want)
		}
	}
}

func TestRiskQuery(t *testing.T) {
	f := start(t)
	for query, want := range map[string]string{
		"?nodes=n%5B1-3%5D,m":                  `200 {"at":7`,
		"":                                     "400 {\"error\":\"nodes: is missing",
		"?nodes=":                              "400 {\"error\":\"nodes: is missing",
		"?nodes=n%5B1":                         "400 {\"error\":\"nodes: hostlist n[1: unmatched [",
		"?nodes=n%5B1-200000%5D":               "400 {\"error\":\"nodes: hostlist n[1-200000]: more than 100000 names",
		"?nodes=" + strings.Repeat("x", 20000): "400 {\"error\":\"nodes: hostlist",
		"?nodes=a&nodes=b":                     "400 {\"error\":\"nodes: given more than once",
		"?node=a":                              "400 {\"error\":\"node: no such parameter",
	} {
		status, answer := ask(t, f.client(), http.MethodGet, "http://varqd"+api.PathRisk+query, "")
		if got := fmt.Sprintf("%d %s", status, answer); !strings.HasPrefix(got, want) {
			t.Errorf("GET risk%.30s: %.100s, want %s", query, got, want)
		}
	}
}

func TestManyAtOnce(t *testing.T) {
	f := start(t)
	var wg sync.WaitGroup
	for range 8 {
		client := f.client()
		for range 25 {
			wg.Go(func() {
				status, answer := ask(t, client, http.MethodPost, "http://varqd"+api.PathPlan, `{"begin_by":1800000000}`)
				if status != 200 {
					t.Errorf("%d %s", status, answer)
				}
			})
		}
	}
	wg.Wait()
}

// Probes take long, and plans do not wait for them, however many there are.
func TestProbesInTurn(t *testing.T) {
	f := start(t)
	const probe = `{"sizes":[{"nodes":4,"limit":3600}],"latest":1800010000,"slots":10}`
	const many = 2 * maxOfOne
	f.service.probing, f.service.probed = make(chan struct{}, many), make(chan struct{})
	var wg sync.WaitGroup
	for range many {
		wg.Go(func() {
			if status, answer := ask(t, f.client(), http.MethodPost, "http://varqd"+api.PathProbe, probe); status != 200 {
				t.Errorf("%d %s", status, answer)
			}
		})
	}
	<-f.service.probing
	for range many {
		if status, answer := ask(t, f.client(), http.MethodPost, "http://varqd"+api.PathPlan, `{"begin_by":1800000000}`); status != 200 {
			t.Errorf("%d %s", status, answer)
		}
	}
	if extra := len(f.service.probing); extra > 0 {
		t.Errorf("%d more probes at once", extra)
	}
	close(f.service.probed)
	wg.Wait()
}

// An answer has as many of the last reservations as it has room for, one at least, whatever is
// asked for.
func TestLastReservations(t *testing.T) {
	f := start(t)
	status, answer := ask(t, f.client(), http.MethodGet, "http://varqd"+api.PathReservations+"?before=50000,mmmmmmmmmmmm", "")
	var list []api.Reservation
	if err := json.Unmarshal([]byte(answer), &list); status != 200 || err != nil || len(answer) > maxList+1<<16 || len(list) < api.LeastPage || list[len(list)-1].Job != 49_999 {
		t.Errorf("%d: %d of %d bytes, %v", status, len(list), len(answer), err)
	}
	if texts, err := lastOf([]api.Reservation{{Job: 1}, {Job: 2, Note: strings.Repeat("x", 2*maxList)}}); err != nil || len(texts) != 1 {
		t.Errorf("%d, %v", len(texts), err)
	}
	if status, answer := ask(t, f.client(), http.MethodGet, "http://varqd"+api.PathReservations+"?before=yesterday", ""); status != 400 || !strings.Contains(answer, "before: ") {
		t.Errorf("%d %s", status, answer)
	}
}

// Whoever waits at the gate for a site that hangs keeps nobody from a promise.
func TestGatesInTurn(t *testing.T) {
	f := start(t)
	f.service.gating, f.service.gated = make(chan struct{}, maxOfOne), make(chan struct{})
	var wg sync.WaitGroup
	for range maxOfOne {
		wg.Go(func() {
			if status, answer := ask(t, f.client(), http.MethodPost, "http://varqd"+api.PathGate, `{"plan":"aaaaaaaaaaaa","job":7}`); status != 200 {
				t.Errorf("%d %s", status, answer)
			}
		})
	}
	for range maxOfOne {
		<-f.service.gating
	}
	if status, answer := ask(t, f.client(), http.MethodPost, "http://varqd"+api.PathPlan, `{"begin_by":1800000000}`); status != 200 {
		t.Errorf("%d %s", status, answer)
	}
	close(f.service.gated)
	wg.Wait()
}

func TestNobodyTakesAllConnections(t *testing.T) {
	f := start(t)
	var open []net.Conn
	defer func() {
		for _, c := range open {
			c.Close()
		}
	}()
	for range maxConnections {
		c, err := net.Dial("unix", f.socket)
		if err != nil {
			t.Fatal(err)
		}
		open = append(open, c)
	}
	extra, err := net.Dial("unix", f.socket)
	if err != nil {
		t.Fatal(err)
	}
	defer extra.Close()
	extra.SetReadDeadline(time.Now().Add(5 * time.Minute))
	if _, err := extra.Read(make([]byte, 1)); !errors.Is(err, io.EOF) && !strings.Contains(err.Error(), "reset") {
		t.Errorf("the connection too many is not closed: %v", err)
	}
	if status, _ := ask(t, http.DefaultClient, "GET", "http://"+f.address+api.PathHealth, ""); status != 200 {
		t.Error("other peers are shut out")
	}
}

func TestListenUnix(t *testing.T) {
	path := filepath.Join(t.TempDir(), "socket")
	l, err := ListenUnix(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ListenUnix(path); err == nil || !strings.Contains(err.Error(), "another process") {
		t.Errorf("a socket in use: %v", err)
	}
	l.(*net.UnixListener).SetUnlinkOnClose(false) // as after kill -9
	l.Close()
	if l, err = ListenUnix(path); err != nil {
		t.Fatalf("a socket left behind: %v", err)
	}
	l.Close()
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ListenUnix(path); err == nil {
		t.Error("a file of another kind was replaced")
	}
}

func TestUserNamesAreCached(t *testing.T) {
	asked := 0
	u := newUsers(func(uint32) (string, error) { asked++; return "alice", nil })
	for range 3 {
		if name, err := u.name(1000); name != "alice" || err != nil {
			t.Error(name, err)
		}
	}
	if asked != 1 {
		t.Errorf("asked %d times", asked)
	}
}

// readPlan reads alice's request.
func readPlan(body []byte) (*api.PlanRequest, error) {
	return readOwn(&request{body: body, user: "alice"}, (*api.PlanRequest).Check, func(r *api.PlanRequest) *workload.Request { return &r.Job })
}

func FuzzDecodePlan(f *testing.F) {
	f.Add([]byte(`{"job":{"nodes":4,"cpus":16,"limit":3600,"partition":"main"},"begin_by":1800000000,"prob":0.9}`))
	f.Add([]byte(`{"begin_by":1e10,"begin_after":5,"on_miss":"cancel"}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		req, err := readPlan(body)
		if err != nil {
			if !errors.Is(err, api.ErrInvalid) {
				t.Errorf("%q: %v is not the user's fault", body, err)
			}
			return
		}
		if req.Job.User != "alice" || req.BeginBy <= 0 || req.BeginAfter > req.BeginBy || req.Job.Nodes < 0 || req.Job.Limit > api.MaxSpan || req.Prob < 0 || req.Prob >= 1 {
			t.Errorf("%q is taken for %+v", body, req)
		}
		again, err := json.Marshal(req)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := readPlan(again); err != nil {
			t.Errorf("%s: %v", again, err)
		}
	})
}

func FuzzParseQueries(f *testing.F) {
	f.Add("user=alice&job=3&all=true")
	f.Add("by=month&start=1&end=2&user=*")
	f.Add("start=1&end=2&account=a,b&partition=p&state=KEPT,MISSED")
	f.Add("by=class&start=1&end=2&forecaster=blend&partition=gpu&class=nodes%3D1")
	f.Fuzz(func(t *testing.T, text string) {
		req, err := http.ReadRequest(bufio.NewReader(strings.NewReader("GET /x?" + text + " HTTP/1.0\r\n\r\n")))
		if err != nil {
			t.Skip()
		}
		if r, err := parseReservations(req.URL.Query()); err == nil && (r.Job < 0 || len(r.User) > api.MaxName || !bounded(r.Selection)) {
			t.Errorf("%q is taken for %+v", text, r)
		}
		if r, err := parseReport(req.URL.Query()); err == nil && !bounded(r.Selection) {
			t.Errorf("%q is taken for %+v", text, r)
		}
		if r, err := parseCalibration(req.URL.Query()); err == nil && (r.Start < 0 || r.End < 0 || len(r.Class) > api.MaxName) {
			t.Errorf("%q is taken for %+v", text, r)
		}
	})
}

// bounded reports whether a selection is one that the server lets through.
func bounded(s api.Selection) bool {
	for _, names := range [][]string{s.Accounts, s.Partitions, s.Names, s.States} {
		if len(names) > api.MaxNames {
			return false
		}
		for _, name := range names {
			if name == "" || len(name) > api.MaxName {
				return false
			}
		}
	}
	return s.Start >= 0 && (s.End == 0 || s.End > s.Start)
}

// A promise that comes too late for who asked is taken back: nobody would take it up.
func TestLatePromiseIsTakenBack(t *testing.T) {
	f := start(t)
	f.service.taken, f.service.reached = make(chan string, 1), make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://varqd"+api.PathPlan, strings.NewReader(`{"job":{"partition":"late"},"begin_by":1800000000}`))
	if err != nil {
		t.Fatal(err)
	}
	asked := make(chan error, 1)
	go func() {
		resp, err := f.local.Do(req)
		if err == nil {
			resp.Body.Close()
		}
		asked <- err
	}()
	<-f.service.reached
	cancel()
	if err := <-asked; err == nil {
		t.Error("who asked has an answer")
	}
	select {
	case plan := <-f.service.taken:
		if plan != "aaaaaaaaaaaa" {
			t.Errorf("plan %q is taken back", plan)
		}
	case <-time.After(5 * time.Minute):
		t.Error("the promise is never taken back")
	}
}
