package daemon

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/live/groups"
	"github.com/varq-project/varq/predictor/live/ledger"
	"github.com/varq-project/varq/predictor/live/statefile"
	"github.com/varq-project/varq/predictor/varqd/client"
	"github.com/varq-project/varq/predictor/varqd/config"
	"github.com/varq-project/varq/predictor/varqd/peers"
	"github.com/varq-project/varq/predictor/varqd/server"
	"github.com/varq-project/varq/predictor/varqd/sitecert"
	"github.com/varq-project/varq/test/certs"
)

// asked is a service that notes who asks for what. It has real groups.
type asked struct {
	server.Service
	groups *groups.Groups
	held   chan struct{} // if not nil, plans take until it is closed

	mu   sync.Mutex
	list []string
}

func (a *asked) note(format string, args ...any) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.list = append(a.list, fmt.Sprintf(format, args...))
}

// all returns what was noted since it was called last.
func (a *asked) all() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	text := strings.Join(a.list, ", ")
	a.list = nil
	return text
}

func (a *asked) Probe(_ context.Context, user string, r *api.ProbeRequest) (api.ProbeAnswer, error) {
	a.note("%s probes for %s", user, r.Job.User)
	return api.ProbeAnswer{Slots: []api.Slot{{Start: r.Earliest, Nodes: r.Sizes[0].Nodes}}}, nil
}

// Plan promises when nobody waits for it any more.
func (a *asked) Plan(ctx context.Context, user string, _ *api.PlanRequest, _ bool) (api.PlanAnswer, error) {
	a.note("%s plans", user)
	<-ctx.Done()
	if a.held != nil {
		<-a.held
	}
	return api.PlanAnswer{Plan: &api.Plan{ID: "aaaaaaaaaaaa"}}, nil
}

func (a *asked) Reservations(_ context.Context, user string, q api.ReservationsQuery) ([]api.Reservation, error) {
	a.note("%s lists job %d", user, q.Job)
	return []api.Reservation{{User: user, Job: q.Job}}, nil
}

func (a *asked) Confirm(_ context.Context, user string, _ api.Confirmation) error {
	a.note("%s confirms", user)
	return api.Fault(api.ErrConflict, "the promise was not confirmed in time")
}

func (a *asked) Cancel(_ context.Context, user string, _ api.Cancellation) error {
	a.note("%s takes back", user)
	return nil
}

func (a *asked) Health(context.Context) api.Health {
	return api.Health{Problems: []string{"queue: it is long"}, History: 7}
}

func (a *asked) ClaimGroup(ctx context.Context, user string, c api.GroupClaim) (api.GateAnswer, error) {
	return a.groups.ClaimGroup(ctx, user, c)
}

func (a *asked) GroupStates(ctx context.Context, user string, q api.GroupsQuery) ([]api.GroupState, error) {
	return a.groups.GroupStates(ctx, user, q)
}

func (a *asked) Delays(ctx context.Context, user string) (api.Delays, error) {
	return a.groups.Delays(ctx, user)
}

// testSite is a site's server, which users reach by its socket, and other sites by TLS.
type testSite struct {
	name, socket, address string
	files                 sitecert.Files
	service               *asked
	homes                 *homes
	log                   *lines
}

// lines are those of a log.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// testSites are alpha and beta, whose certificates an authority has signed.
type testSites struct {
	t         *testing.T
	dir       string
	authority *certs.Authority
	alpha     *testSite
	beta      *testSite
	user      string // who asks by the unix sockets
}

func mustAuthority(t *testing.T) *certs.Authority {
	t.Helper()
	a, err := certs.NewAuthority()
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func (s *testSites) files(a *certs.Authority, expires time.Time, names ...string) sitecert.Files {
	s.t.Helper()
	f, err := a.Write(s.dir, expires, names...)
	if err != nil {
		s.t.Fatal(err)
	}
	return f
}

func tomorrow() time.Time { return time.Now().Add(24 * time.Hour) }

// startSites starts alpha, whose users' requests beta takes as usersAtBeta says, and beta, which
// may ask alpha for alice.
func startSites(t *testing.T, user string, usersAtBeta ...string) *testSites {
	t.Helper()
	s := &testSites{t: t, dir: t.TempDir(), authority: mustAuthority(t), user: user}
	s.beta = s.start("beta", map[string][]string{"alpha": usersAtBeta}, nil)
	s.alpha = s.start("alpha", map[string][]string{"beta": {"alice"}}, map[string]string{"beta": s.beta.address})
	return s
}

// uids are the numbers of users in the tests.
var uids = map[string]uint32{"root": 0, "daemon": 1, "alice": 1000, "bob": 1001, "olga": 1002, "varq": 1003}

// start starts a site which lets others connect, and knows these.
func (s *testSites) start(name string, may map[string][]string, knows map[string]string) *testSite {
	t := s.t
	t.Helper()
	site := &testSite{name: name, socket: filepath.Join(t.TempDir(), "socket"), service: &asked{}, log: &lines{}, files: s.files(s.authority, tomorrow(), name)}
	log := slog.New(slog.NewTextHandler(site.log, nil))
	identity, err := sitecert.Open(site.files, time.Now, log)
	if err != nil {
		t.Fatal(err)
	}
	allowed := known{peers.New(peers.Options{
		Users: may, Own: "varq", Now: time.Now, Operator: func(user string) bool { return user == "root" || user == "olga" },
		UID: func(user string) (uint32, error) {
			uid, ok := uids[user]
			if !ok {
				return 0, errors.New("no such user")
			}
			return uid, nil
		},
	}), identity, func() error { return nil }}
	file, err := statefile.Open(filepath.Join(t.TempDir(), "ledger.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	if site.service.groups, err = groups.New(t.Context(), groups.Options{
		Site: name, Ledger: ledger.New(file), Peer: allowed.groupsPeer, Now: func() int64 { return 7 }, Prob: .5, Log: log,
	}); err != nil {
		t.Fatal(err)
	}
	c := config.Default()
	for other, address := range knows {
		c.Sites = append(c.Sites, config.Site{Name: other, Endpoint: "tls://" + address})
	}
	c.Sites = append(c.Sites, config.Site{Name: "gamma", Endpoint: "unix:///nowhere"})
	site.homes = newHomes(site.service.groups, "varq", &c, identity)
	running := server.New(server.Options{
		Service: site.service, Peers: allowed, Sites: relay{site.homes, log}, Log: log, Metrics: prometheus.NewRegistry(),
		UserName: func(uint32) (string, error) { return s.user, nil },
	})
	unix, err := server.ListenUnix(site.socket)
	if err != nil {
		t.Fatal(err)
	}
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	site.address = tcp.Addr().String()
	var serving sync.WaitGroup
	serving.Go(func() {
		if err := running.Serve(unix); err != nil {
			t.Error(err)
		}
	})
	serving.Go(func() {
		if err := running.ServeTLS(tcp, identity.Server()); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() {
		for _, c := range site.homes.clients {
			c.Close()
		}
		ctx, cancel := context.WithTimeout(context.Background(), patient)
		defer cancel()
		if err := running.Shutdown(ctx); err != nil {
			t.Error(err)
		}
		serving.Wait()
	})
	return site
}

// client returns a client of a site's for the site that is meant, of its own if that is empty.
func (s *testSites) client(at *testSite, meant string) *client.Client {
	s.t.Helper()
	c, err := client.New("unix://"+at.socket, "")
	if err != nil {
		s.t.Fatal(err)
	}
	c.Timeout, c.Site = patient, meant
	s.t.Cleanup(c.Close)
	return c
}

func aProbe() api.ProbeRequest {
	r := api.ProbeRequest{Earliest: 100, Latest: 200, Slots: 1, Sizes: []api.Size{{Limit: 60}}}
	r.Sizes[0].Nodes = 3
	return r
}

// A user of alpha's asks beta by alpha's varqd, and is known there by the same name.
func TestRelay(t *testing.T) {
	s := startSites(t, "alice", "alice")
	c := s.client(s.alpha, "beta")
	if a, err := c.Probe(t.Context(), aProbe()); err != nil || len(a.Slots) != 1 || a.Slots[0].Nodes != 3 {
		t.Errorf("%+v, %v", a, err)
	}
	if list, err := c.Reservations(t.Context(), api.ReservationsQuery{Job: 17}); err != nil || len(list) != 1 || list[0].User != "alice" || list[0].Job != 17 {
		t.Errorf("%+v, %v", list, err)
	}
	if err := c.Cancel(t.Context(), api.Cancellation{Plan: "aaaaaaaaaaaa"}); err != nil {
		t.Error(err)
	}
	if err := c.Confirm(t.Context(), api.Confirmation{Plan: "aaaaaaaaaaaa", Job: 1}); !errors.Is(err, api.ErrConflict) || err.Error() != "the promise was not confirmed in time" {
		t.Errorf("beta's own words: %v", err)
	}
	if h, err := c.Health(t.Context()); err != nil || h.OK || h.History != 7 || len(h.Problems) != 1 {
		t.Errorf("beta's health: %+v, %v", h, err)
	}
	if got, want := s.beta.service.all(), "alice probes for alice, alice lists job 17, alice takes back, alice confirms"; got != want {
		t.Errorf("beta was asked: %s", got)
	}
	if got := s.alpha.service.all(); got != "" {
		t.Errorf("alpha was asked: %s", got)
	}
}

// What is promised at another site to a user who is gone is taken back there.
func TestRelayToNobody(t *testing.T) {
	s := startSites(t, "alice", "alice")
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	gone := make(chan error, 1)
	go func() {
		_, err := s.client(s.alpha, "beta").Plan(ctx, api.PlanRequest{BeginBy: 1_800_000_000, Prob: .9})
		gone <- err
	}()
	var got string
	for end := time.Now().Add(patient); got != "alice plansalice takes back"; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("beta was asked: %s", got)
		}
		if got += s.beta.service.all(); got != "" {
			leave()
		}
	}
	if err := <-gone; !errors.Is(err, client.ErrUnreachable) {
		t.Error(err)
	}
}

// Who has asked for something that beta does not answer is told that it is beta, whether it was
// asked, and what to do next.
func TestRelayUnanswered(t *testing.T) {
	s := startSites(t, "alice", "alice")
	s.beta.service.held = make(chan struct{})
	defer close(s.beta.service.held)
	to := relay{s.alpha.homes, slog.New(slog.DiscardHandler)}
	want := func(err error, what string) {
		t.Helper()
		if !errors.Is(err, api.ErrUnavailable) || !strings.HasPrefix(err.Error(), "site beta: varqd is not reachable at tls://"+s.beta.address+": ") || !strings.Contains(err.Error(), what) {
			t.Errorf("%v, wanted %q", err, what)
		}
	}
	ctx, leave := context.WithCancel(t.Context())
	gone := make(chan error, 1)
	go func() {
		_, _, err := to.Forward(ctx, "beta", "alice", "POST", api.PathPlan, []byte(`{"begin_by":1800000000,"prob":0.9}`))
		gone <- err
	}()
	for end := time.Now().Add(patient); s.beta.service.all() == ""; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("beta was not asked")
		}
	}
	leave()
	want(<-gone, "the request got there, and if a promise was made, that has no job")
	_, _, err := to.Forward(ctx, "beta", "alice", "POST", api.PathConfirm, nil)
	want(err, "the request did not get there: try again")
	// Who would soon not wait any more is told before.
	status, answer, err := s.post(s.alpha, nil, "POST", api.PathRelay+"beta"+api.PathPlan, `{"begin_by":1800000000,"prob":0.9}`, api.Within, "1")
	if err != nil || status != 503 || !strings.Contains(answer, "site beta") || strings.Contains(answer, "no answer within 20s") {
		t.Errorf("%d %s %v", status, answer, err)
	}
}

// What is known of a request that a site has not answered depends on what it asks for.
func TestAfterwards(t *testing.T) {
	for uri, want := range map[string]string{
		api.PathProbe: "changes nothing", api.PathReservations + "?job=3": "changes nothing", api.PathPlan: "lapses", api.PathConfirm: "varq status --site=beta",
	} {
		if got := afterwards("beta", uri, &client.Unanswered{}); !strings.Contains(got, want) {
			t.Errorf("%s: %s", uri, got)
		}
	}
}

// post makes a request at a site's socket, or by TLS with files if there are any.
func (s *testSites) post(at *testSite, files *sitecert.Files, method, path, body string, header ...string) (status int, answer string, err error) {
	s.t.Helper()
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", at.socket)
	}}
	base := "http://varqd"
	if files != nil {
		base = "https://" + at.address
		config := &tls.Config{InsecureSkipVerify: true}
		if files.Certificate != "" {
			pair, err := tls.LoadX509KeyPair(files.Certificate, files.Key)
			if err != nil {
				s.t.Fatal(err)
			}
			// Also where the server's authorities are others.
			config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &pair, nil }
		}
		transport = &http.Transport{TLSClientConfig: config}
	}
	defer transport.CloseIdleConnections()
	r, err := http.NewRequestWithContext(s.t.Context(), method, base+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Add(header[i], header[i+1])
	}
	resp, err := transport.RoundTrip(r)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(text), err
}

// logged waits until a site's log has a text.
func (s *testSites) logged(at *testSite, text string) {
	s.t.Helper()
	for end := time.Now().Add(patient); !strings.Contains(at.log.String(), text); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			s.t.Fatalf("the log has not %q:\n%s", text, at.log)
		}
	}
}

const reservations = api.PathReservations + "?job=3"

// Only the certificate of a site that is named lets anybody in, and that is logged.
func TestWhoMayConnect(t *testing.T) {
	s := startSites(t, "alice", "alice")
	good := s.alpha.files
	if status, answer, err := s.post(s.beta, &good, "GET", reservations, "", api.ForUser, "alice"); err != nil || status != 200 {
		t.Fatalf("%d %s %v", status, answer, err)
	}
	s.beta.service.all()
	other := mustAuthority(t)
	for name, c := range map[string]struct {
		files sitecert.Files
		want  string // in the answer, or in the log if the connection fails
		fails bool
	}{
		"no certificate":                {sitecert.Files{}, "client didn't provide a certificate", true},
		"another authority's":           {s.files(other, tomorrow(), "alpha", "of-another"), "unknown authority", true},
		"an expired one":                {s.files(s.authority, time.Now().Add(-time.Minute), "old", "alpha"), "certificate has expired", true},
		"that of a site without rights": {s.files(s.authority, tomorrow(), "gamma"), `names no such site`, false},
		"a wildcard":                    {s.files(s.authority, tomorrow(), "*.alpha"), `names no such site`, false},
		"beta's own":                    {s.beta.files, `names no such site`, false},
	} {
		for _, path := range []string{reservations, api.PathHealth, api.PathDelays} {
			status, answer, err := s.post(s.beta, &c.files, "GET", path, "", api.ForUser, "alice")
			switch {
			case c.fails && err == nil, !c.fails && (status != 401 || !strings.Contains(answer, c.want)):
				t.Errorf("%s, %s: %d %s %v", name, path, status, answer, err)
			}
			s.logged(s.beta, c.want)
		}
	}
	if got := s.beta.service.all(); got != "" {
		t.Errorf("beta was asked: %s", got)
	}
}

// A site speaks for the users that it is named with, and for no others. "all" are not root, the
// system's, Slurm's operators and varqd's own, whom no site may be named with either.
func TestForWhomASiteSpeaks(t *testing.T) {
	for users, want := range map[string]string{
		"alice": "alice", "alice root olga varq": "alice root olga", "all": "alice bob", "": "",
	} {
		s := startSites(t, "nobody", strings.Fields(users)...)
		for _, user := range []string{"alice", "bob", "root", "daemon", "olga", "varq", "mallory", "", "site:alpha", "site:beta", "ALICE", "0", "1000"} {
			status, answer, err := s.post(s.beta, &s.alpha.files, "GET", reservations, "", api.ForUser, user)
			may := user != "" && strings.Contains(" "+want+" ", " "+user+" ")
			if err != nil || (status == 200) != may || !may && (status != 403 || !strings.Contains(answer, "may not ask for user")) {
				t.Errorf("users %q, for %q: %d %s %v", users, user, status, answer, err)
			}
			status, _, err = relay{s.alpha.homes, slog.New(slog.DiscardHandler)}.Forward(t.Context(), "beta", user, "GET", reservations, nil)
			if err != nil || (status == 200) != may {
				t.Errorf("users %q, relayed for %q: %d %v", users, user, status, err)
			}
		}
		status, answer, err := s.post(s.beta, &s.alpha.files, "GET", reservations, "", api.ForUser, "alice", api.ForUser, "bob")
		if err != nil || status != 403 {
			t.Errorf("for two users: %d %s %v", status, answer, err)
		}
		if got := s.beta.service.all(); strings.Contains(got, "mallory") || strings.Contains(got, "varq") || strings.Contains(got, ":") {
			t.Errorf("users %q: %s", users, got)
		}
	}
}

// As long as nobody knows who is an operator, a site speaks for those alone whom varq.yaml names.
func TestAdmitsBeforeOperatorsAreKnown(t *testing.T) {
	unread := api.Fault(api.ErrUnavailable, "not known yet")
	k := known{peers.New(peers.Options{
		Users: map[string][]string{"beta": {"all"}, "gamma": {"alice"}}, Own: "varq", Now: time.Now,
		Operator: func(string) bool { return false }, UID: func(string) (uint32, error) { return 4711, nil },
	}), nil, func() error { return unread }}
	for site, want := range map[string]error{"beta": unread, "gamma": nil, "delta": api.ErrForbidden} {
		if err := k.Admits(site, "alice"); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", site, err, want)
		}
	}
	if !k.groupsPeer("site:beta").Speaks("alice") {
		t.Error("the home of a group that stands forgets its members")
	}
}

// What is not for other sites they do not get, and users may not speak for others.
func TestWhatIsNotRelayed(t *testing.T) {
	s := startSites(t, "alice", "alice")
	for _, c := range []struct{ method, path string }{
		{"POST", api.PathVitals}, {"GET", api.PathMetrics}, {"GET", api.PathDelays}, {"POST", api.PathClaim}, {"POST", api.PathGroupStates}, {"POST", api.PathGate},
		{"GET", api.PathOpenAPI}, {"GET", api.PathProbe}, {"GET", "/"}, {"POST", "/v1/sites/alpha" + api.PathProbe}, {"GET", "/v1/sites/gamma/healthz"},
	} {
		path := strings.TrimSuffix(api.PathRelay, "/") + "/beta" + c.path
		if status, answer, err := s.post(s.alpha, nil, c.method, path, "{}"); err != nil || status != 404 {
			t.Errorf("relayed %s %s: %d %s %v", c.method, c.path, status, answer, err)
		}
		if status, answer, err := s.post(s.beta, &s.alpha.files, c.method, c.path, "{}", api.ForUser, "alice"); err != nil || status != 403 {
			t.Errorf("for alice %s %s: %d %s %v", c.method, c.path, status, answer, err)
		}
	}
	for _, path := range []string{"/v1/sites/gamma" + api.PathHealth, "/v1/sites/alpha" + api.PathHealth, "/v1/sites/delta" + api.PathHealth, "/v1/sites/beta", "/v1/sites/beta/", "/v1/sites/"} {
		if status, answer, err := s.post(s.alpha, nil, "GET", path, ""); err != nil || status != 404 && status != 301 && status != 307 {
			t.Errorf("%s: %d %s %v", path, status, answer, err)
		}
	}
	// For itself a site's varqd asks for nothing that is users'.
	for _, path := range []string{api.PathProbe, api.PathConfirm, api.PathCancel, api.PathGroups, api.PathGroupCancel, api.PathVitals, api.PathGate, "/v1/sites/alpha" + api.PathProbe} {
		if status, answer, err := s.post(s.beta, &s.alpha.files, "POST", path, "{}"); err != nil || status != 403 {
			t.Errorf("for itself %s: %d %s %v", path, status, answer, err)
		}
	}
	// The header is for TLS alone.
	for _, path := range []string{reservations, api.PathHealth, "/v1/sites/beta" + reservations} {
		if status, answer, err := s.post(s.alpha, nil, "GET", path, "", api.ForUser, "bob"); err != nil || status != 403 || !strings.Contains(answer, api.ForUser) {
			t.Errorf("%s with the header by the socket: %d %s %v", path, status, answer, err)
		}
	}
	if got := s.beta.service.all() + s.alpha.service.all(); got != "" {
		t.Errorf("they were asked: %s", got)
	}
}

// A group is refused at once if the varqd of one of its sites could not learn of it.
func TestDeafSites(t *testing.T) {
	c := config.Default()
	c.Sites = []config.Site{{Name: "alpha", Endpoint: "unix:///run/varq/varqd.sock"}, {Name: "munged", Endpoint: "tcp://h:1"}, {Name: "silent", Endpoint: "tls://h:1"}, {Name: "beta", Endpoint: "tls://h:2"}}
	k := known{Peers: peers.New(peers.Options{Users: map[string][]string{"beta": {"alice"}, "gamma": {"alice"}, "munged": nil, "alpha": nil}, Now: time.Now})}
	deaf := k.deaf(&c)
	for site, want := range map[string][2]bool{
		"alpha": {}, "": {}, "munged": {}, "unknown": {}, "silent": {true, true}, "beta": {false, true}, "gamma": {false, true},
	} {
		if got := [2]bool{deaf(site, "alice"), deaf(site, "bob")}; got != want {
			t.Errorf("%q for alice and bob: %v, want %v", site, got, want)
		}
	}
}

// The varqd of a site learns of those groups alone that have a member at its site, and whose users
// it may speak for.
func TestGroupsOfPeers(t *testing.T) {
	ctx := t.Context()
	s := startSites(t, "alice", "alice")
	home := s.alpha
	s.beta.homes.byTLS["alpha"], s.beta.homes.sites["alpha"] = home.address, config.Client{}
	register := func(user, id, site string) {
		t.Helper()
		r := api.GroupRequest{ID: id, Kind: api.GroupAny, Deadline: 99, Prob: .5, Members: []api.GroupMember{
			{Site: "alpha", Plan: "aaaaaaaaaaaa", Job: 7, Prob: .9}, {Site: site, Plan: "bbbbbbbbbbbb", Job: 8, Prob: .9},
		}}
		if _, err := home.service.groups.RegisterGroup(ctx, user, r); err != nil {
			t.Fatal(err)
		}
	}
	register("alice", "gggggggggggg", "beta")
	register("alice", "hhhhhhhhhhhh", "gamma") // no member at beta
	register("bob", "iiiiiiiiiiii", "beta")    // for whom beta may not speak
	all := []string{"gggggggggggg", "hhhhhhhhhhhh", "iiiiiiiiiiii"}
	if states, err := s.beta.homes.States(ctx, "alpha", api.GroupsQuery{Groups: all}); err != nil || len(states) != 1 || states[0].Group != all[0] {
		t.Errorf("%+v, %v", states, err)
	}
	for name, claim := range map[string]api.GroupClaim{
		"another site's member": {Group: all[0], Plan: "aaaaaaaaaaaa", Job: 7, User: "alice"},
		"another site's group":  {Group: all[1], Plan: "bbbbbbbbbbbb", Job: 8, User: "alice"},
		"another user's":        {Group: all[2], Plan: "bbbbbbbbbbbb", Job: 8, User: "bob"},
		"in another's name":     {Group: all[2], Plan: "bbbbbbbbbbbb", Job: 8, User: "alice"},
	} {
		if a, err := s.beta.homes.Claim(ctx, "alpha", claim); err == nil || !api.Refused(err) {
			t.Errorf("%s: %+v, %v", name, a, err)
		}
	}
	if err := home.service.groups.CancelGroup(ctx, peers.User("beta"), api.GroupCancellation{Group: all[0]}); !errors.Is(err, api.ErrNotFound) {
		t.Errorf("a site gives a group up: %v", err)
	}
	if states, err := s.client(home, "").GroupStates(ctx, api.GroupsQuery{Groups: all}); err != nil || len(states) != 2 || !states[0].Open {
		t.Errorf("alice's: %+v, %v", states, err)
	}
	if a, err := s.beta.homes.Claim(ctx, "alpha", api.GroupClaim{Group: all[0], Plan: "bbbbbbbbbbbb", Job: 8, User: "alice"}); err != nil || a.Answer != api.GateGo {
		t.Errorf("%+v, %v", a, err)
	}
	if err := s.beta.homes.askDelays(ctx, "alpha"); err != nil {
		t.Error(err)
	}
	if a, err := s.client(s.beta, "").Delays(ctx); !errors.Is(err, api.ErrForbidden) {
		t.Errorf("a user sees delays: %+v, %v", a, err)
	}
}
