package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/varqd/client"
	"github.com/varq-project/varq/predictor/varqd/sitecert"
)

// badSite starts what answers by TLS with these files, and returns its address.
func (s *testSites) badSite(files sitecert.Files, answer http.HandlerFunc) string {
	s.t.Helper()
	identity, err := sitecert.Open(files, time.Now, slog.New(slog.DiscardHandler))
	if err != nil {
		s.t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(answer)
	server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug)
	server.TLS = identity.Server()
	server.StartTLS()
	s.t.Cleanup(server.Close)
	return server.Listener.Addr().String()
}

// meet starts alpha, which knows only a beta at that address.
func (s *testSites) meet(address string) *testSite {
	s.t.Helper()
	return s.start("alpha", nil, map[string]string{"beta": address})
}

// Whatever a site answers that no varqd does, its users read which site that is, and what is wrong.
func TestSitesThatAnswerNonsense(t *testing.T) {
	s := &testSites{t: t, dir: t.TempDir(), authority: mustAuthority(t), user: "alice"}
	beta := s.files(s.authority, tomorrow(), "beta")
	old := s.files(s.authority, time.Now().Add(-time.Hour), "old", "beta")
	text := func(status int, text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			_, _ = w.Write([]byte(text))
		}
	}
	for name, c := range map[string]struct {
		files  sitecert.Files
		answer http.HandlerFunc
		want   string
	}{
		"another site":         {s.files(s.authority, tomorrow(), "gamma"), text(200, "[]"), "valid for gamma, not beta"},
		"of another authority": {s.files(mustAuthority(t), tomorrow(), "stranger", "beta"), text(200, "[]"), "unknown authority"},
		"expired":              {old, text(200, "[]"), "certificate has expired"},
		"no JSON":              {beta, text(200, "hello"), "site beta: it answers with HTTP status 200 what is not an answer of varqd's"},
		"nothing":              {beta, text(200, ""), "what is not an answer"},
		"a status of its own":  {beta, text(799, "[]"), "HTTP status 799"},
		"a redirection": {beta, func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
		}, "HTTP status 307"},
		"too much":              {beta, text(200, "["+strings.Repeat(" ", 8<<20)+"]"), "answers with more than 8388608 bytes"},
		"no HTTP":               {beta, func(w http.ResponseWriter, _ *http.Request) { hijack(t, w) }, "what answers there does not speak HTTP"},
		"that it knows nobody":  {beta, text(401, `{"error":"who are you"}`), "site beta: it does not accept this site's varqd: who are you"},
		"JSON of another kind":  {beta, text(200, `{"x": 1}`), "what is not an answer"},
		"its refusal of health": {beta, text(403, `{"error":"site alpha may not ask for user [alice] here"}`), "may not ask for user"},
	} {
		alpha := s.meet(s.badSite(c.files, c.answer))
		if _, err := s.client(alpha, "beta").Reservations(t.Context(), api.ReservationsQuery{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
		if h, err := s.client(alpha, "beta").Health(t.Context()); name != "JSON of another kind" && err == nil {
			t.Errorf("%s: health %+v", name, h)
		}
		status, answer, err := s.post(alpha, nil, "GET", "/v1/sites/beta"+reservations, "")
		if want := map[bool]int{true: 503, false: 403}[name != "its refusal of health"]; err != nil || status != want && name != "JSON of another kind" {
			t.Errorf("%s: %d %s %v", name, status, answer, err)
		}
	}
	// Nobody is there.
	nowhere, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	alpha := s.meet(nowhere.Addr().String())
	nowhere.Close()
	if _, err := s.client(alpha, "beta").Probe(t.Context(), aProbe()); !errors.Is(err, api.ErrUnavailable) || !strings.Contains(err.Error(), "site beta: varqd is not reachable at tls://") {
		t.Error(err)
	}
}

// hijack answers what is not HTTP.
func hijack(t *testing.T, w http.ResponseWriter) {
	raw, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		t.Error(err)
		return
	}
	_, _ = raw.Write([]byte("220 mail.example.org\r\n"))
	raw.Close()
}

// A site that never answers keeps nobody from the own one, and is left by those who give up.
func TestASiteThatHangs(t *testing.T) {
	s := &testSites{t: t, dir: t.TempDir(), authority: mustAuthority(t), user: "alice"}
	silent, err := net.Listen("tcp", "127.0.0.1:0") // where not even the handshake comes to an end
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	var waiting atomic.Int64
	hanging := s.badSite(s.files(s.authority, tomorrow(), "beta"), func(_ http.ResponseWriter, r *http.Request) {
		waiting.Add(1)
		<-r.Context().Done()
		waiting.Add(-1)
	})
	for name, address := range map[string]string{"hanging": hanging, "silent": silent.Addr().String()} {
		alpha := s.meet(address)
		ctx, give := context.WithCancel(t.Context())
		var asking sync.WaitGroup
		for range 80 {
			asking.Go(func() {
				if a, err := s.client(alpha, "beta").Reservations(ctx, api.ReservationsQuery{}); !errors.Is(err, client.ErrUnreachable) {
					t.Errorf("%s: %+v, %v", name, a, err)
				}
			})
		}
		if name == "hanging" {
			for end := time.Now().Add(patient); waiting.Load() == 0; time.Sleep(time.Millisecond) {
				if time.Now().After(end) {
					t.Fatal("nobody asks")
				}
			}
		}
		for range 20 {
			if _, err := s.client(alpha, "").Reservations(t.Context(), api.ReservationsQuery{Job: 1}); err != nil {
				t.Errorf("%s: the own site: %v", name, err)
			}
		}
		if most := waiting.Load(); most > 4 {
			t.Errorf("%s: %d requests of one user at once", name, most)
		}
		give()
		asking.Wait()
	}
	for end := time.Now().Add(patient); waiting.Load() > 0; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d requests are not given up", waiting.Load())
		}
	}
}

// Who has no certificate, or holds a request back, keeps no site from another; nor does a site with
// many users keep the others from their turn.
func TestASiteIsNotShutOut(t *testing.T) {
	var users []string
	for i := range 60 {
		users = append(users, fmt.Sprintf("user%d", i))
	}
	s := startSites(t, "alice", append(users, "alice")...)
	for range 400 {
		attacker, err := net.Dial("tcp", s.beta.address)
		if err != nil {
			t.Fatal(err)
		}
		defer attacker.Close()
	}
	if _, err := s.client(s.alpha, "beta").Probe(t.Context(), aProbe()); err != nil {
		t.Errorf("among 400 connections of nobody: %v", err)
	}
	s.beta.service.all()
	forward := relay{s.alpha.homes, slog.New(slog.DiscardHandler)}
	s.beta.service.held = make(chan struct{})
	ctx, give := context.WithCancel(t.Context())
	defer give()
	var asking sync.WaitGroup
	for _, user := range users {
		for range 2 {
			asking.Go(func() {
				if _, _, err := forward.Forward(ctx, "beta", user, "POST", api.PathPlan, []byte(`{"begin_by":1800000000}`)); err == nil {
					t.Errorf("%s has an answer", user)
				}
			})
		}
	}
	most := max(4, 2*runtime.GOMAXPROCS(0)) / 2 // of one site
	got, served := "", 0
	for end := time.Now().Add(patient); served < 20; {
		if time.Now().After(end) {
			t.Fatalf("beta works on %q", got)
		}
		if got += s.beta.service.all(); strings.Count(got, " plans") < most {
			time.Sleep(time.Millisecond)
			continue
		}
		if _, err := s.client(s.beta, "").Reservations(t.Context(), api.ReservationsQuery{}); err != nil {
			t.Errorf("beta's own: %v", err)
		}
		served++
	}
	if n := strings.Count(got, " plans"); n != most {
		t.Errorf("beta works on %d requests of alpha's at once, not %d", n, most)
	}
	give()
	close(s.beta.service.held)
	asking.Wait()
}

// Certificates are replaced while the daemons run, and one that has expired is told.
func TestCertificatesAreReplaced(t *testing.T) {
	s := startSites(t, "alice", "alice")
	c := s.client(s.alpha, "beta")
	ask := func() error {
		_, err := c.Probe(t.Context(), aProbe())
		return err
	}
	if err := ask(); err != nil {
		t.Fatal(err)
	}
	s.authority = mustAuthority(t)
	s.files(s.authority, tomorrow(), "beta")
	// The connection is still there, and alpha's certificate no longer good.
	if err := ask(); !errors.Is(err, api.ErrUnavailable) || !strings.Contains(err.Error(), "site beta: it does not accept this site's varqd") {
		t.Errorf("with another authority at beta alone: %v", err)
	}
	s.files(s.authority, tomorrow(), "alpha")
	if err := ask(); err != nil {
		t.Errorf("with another authority: %v", err)
	}
	// Half of the files: the others stay in use.
	if err := os.WriteFile(s.alpha.files.Key, []byte("nonsense"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := ask(); err != nil {
		t.Errorf("with half of the files: %v", err)
	}
	s.files(s.authority, time.Now().Add(-time.Hour), "alpha")
	if err := ask(); !errors.Is(err, api.ErrUnavailable) || !strings.Contains(err.Error(), "the certificate of this site expired on ") {
		t.Errorf("with an expired certificate: %v", err)
	}
	s.files(s.authority, tomorrow(), "alpha")
	if err := ask(); err != nil {
		t.Errorf("with a new certificate: %v", err)
	}
	s.files(s.authority, time.Now().Add(-time.Hour), "beta")
	// or else the connection serves, of which the certificate was good
	s.files(s.authority, tomorrow(), "alpha")
	if err := ask(); !errors.Is(err, api.ErrUnavailable) || !strings.Contains(err.Error(), "certificate has expired") {
		t.Errorf("with an expired certificate at beta: %v", err)
	}
}
