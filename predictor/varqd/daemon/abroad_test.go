package daemon

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/live/idle"
	"github.com/varq-project/varq/predictor/live/statefile"
	"github.com/varq-project/varq/predictor/varqd/config"
)

// varqd reads the slurmrestd of sites without varqd, with their tokens, and of those alone it
// answers probes.
func TestSitesAbroad(t *testing.T) {
	var asked atomic.Int32
	slurmrestd := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		if user := r.Header.Get("X-SLURM-USER-NAME"); user != "reader" {
			t.Errorf("%s asks", user)
		}
		http.Error(w, "out of order", http.StatusInternalServerError)
	}))
	defer slurmrestd.Close()
	file, err := statefile.Open(filepath.Join(t.TempDir(), "ledger.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	c := config.Default()
	c.Sites = []config.Site{
		{Name: "alpha", Endpoint: "unix:///nowhere/varqd.sock"},
		{Name: "beta", Bare: config.Bare{Slurmrestd: &config.Slurmrestd{URL: slurmrestd.URL, User: "reader"}, Estimate: "static"}},
	}
	abroad, err := newSitesAbroad(&c, idle.NewStore(file), func() int64 { return 1_795_266_000 }, time.Now, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer abroad.close()
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { abroad.run(ctx) })
	defer running.Wait()
	defer cancel()
	s := service{daemon: &Daemon{abroad: abroad}}
	probe := func(site string) error {
		_, err := s.Probe(t.Context(), "alice", &api.ProbeRequest{Site: site, Sizes: []api.Size{{Limit: 60}}, Latest: 1_795_270_000, Slots: 1})
		return err
	}
	for _, site := range []string{"alpha", "gamma"} {
		if err := probe(site); !errors.Is(err, api.ErrInvalid) {
			t.Errorf("%s: %v", site, err)
		}
	}
	if err := probe("beta"); !errors.Is(err, api.ErrUnavailable) {
		t.Error(err)
	}
	states, err := s.Sites(t.Context(), "alice")
	for err == nil && states[0].Since == 0 { // a probe does not wait for ever
		time.Sleep(time.Millisecond)
		states, err = s.Sites(t.Context(), "alice")
	}
	if err != nil || len(states) != 1 || states[0].Site != "beta" || states[0].Method != "static" || states[0].OK || states[0].Error == "" || asked.Load() == 0 {
		t.Errorf("%+v, %v, asked %d times", states, err, asked.Load())
	}
}
