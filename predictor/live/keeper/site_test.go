package keeper

import (
	"context"
	"database/sql"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/live/groups"
	"github.com/varq-project/varq/predictor/live/ledger"
	"github.com/varq-project/varq/predictor/live/sqlitefile"
	"github.com/varq-project/varq/predictor/live/statefile"
	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/slurmtime"
	"github.com/varq-project/varq/predictor/workload"
)

// epoch is the time at which each test begins: 2027-01-15T08:00:00 in UTC.
const epoch = 1_800_000_000

// site is a keeper with a fake Slurm, a fake Outlook and a real ledger.
type site struct {
	*Keeper
	t       *testing.T
	path    string
	file    *sqlitefile.File // of the ledger
	slurm   *fakeSlurm
	outlook *fakeOutlook
	homes   fakeHomes
	notices []api.Notice
	metrics *prometheus.Registry
	clock   int64
	early   *reading        // what the next watch has read already, or nil
	log     strings.Builder // warnings and errors since the last watch
}

// emptyLedger is the file of a ledger without promises. Each site has a copy: to walk through all schemas takes longer than most tests.
var emptyLedger = sync.OnceValues(func() ([]byte, error) {
	folder, err := os.MkdirTemp("", "ledger")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "ledger.db")
	file, err := statefile.Open(path)
	if err != nil {
		return nil, err
	}
	if err := file.Close(); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
})

// newSite returns a site where jobs wait for ten minutes.
func newSite(t *testing.T) *site {
	s := &site{
		t: t, path: filepath.Join(t.TempDir(), "ledger.db"), clock: epoch,
		slurm: newFakeSlurm(), outlook: &fakeOutlook{wait: 600, asked: map[int64]int{}},
	}
	empty, err := emptyLedger()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(s.path, empty, 0o600); err != nil {
		t.Fatal(err)
	}
	s.open()
	t.Cleanup(func() { s.file.Close() })
	return s
}

func (s *site) open() {
	s.t.Helper()
	var err error
	if s.file, err = statefile.Open(s.path); err != nil {
		s.t.Fatal(err)
	}
	home, err := groups.New(s.t.Context(), groups.Options{
		Ledger: ledger.New(s.file), Peer: onlyPeer("varq"), Now: func() int64 { return s.clock }, Prob: .9, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		s.t.Fatal(err)
	}
	s.homes.Groups = home
	s.metrics = prometheus.NewRegistry()
	s.Keeper = New(Options{
		Homes: &s.homes, Ledger: ledger.New(s.file), Slurm: s.slurm, Outlook: s.outlook, Health: s.outlook, Tell: func(n api.Notice) { s.notices = append(s.notices, n) }, Now: func() int64 { return s.clock }, Zone: time.UTC,
		Prob: .9, Confidence: .95, Horizon: 86400, Stale: 900, Grace: 300,
		Log: slog.New(slog.NewTextHandler(&s.log, &slog.HandlerOptions{Level: slog.LevelWarn})), Metrics: NewMetrics(s.metrics),
	})
	s.refresh()
}

// predicted predicts the q-quantile of the wait of alice's job.
func (s *site) predicted(q float64) api.Prediction {
	s.t.Helper()
	p, err := s.Predict(s.t.Context(), "alice", &api.PredictRequest{Quantiles: []float64{q}})
	if err != nil {
		s.t.Fatal(err)
	}
	return p
}

// fillDisk leaves the ledger no more room than it has taken.
func (s *site) fillDisk() {
	s.t.Helper()
	if err := s.file.Write(s.t.Context(), func(tx *sql.Tx) error { _, err := tx.Exec("PRAGMA max_page_count = 1"); return err }); err != nil {
		s.t.Fatal(err)
	}
}

// crash drops the keeper and opens another on the same ledger, as after kill -9.
func (s *site) crash() {
	s.file.Close()
	s.open()
}

// backup backs up the ledger.
func (s *site) backup() {
	s.t.Helper()
	if _, err := statefile.Backup(s.t.Context(), s.path, s.path+".backup"); err != nil {
		s.t.Fatal(err)
	}
}

// restore opens a keeper on the ledger as it was at the last backup.
func (s *site) restore() {
	s.t.Helper()
	s.file.Close()
	if _, err := statefile.Restore(s.t.Context(), s.path+".backup", s.path, s.clock); err != nil {
		s.t.Fatal(err)
	}
	s.open()
}

// refresh calls Refresh, unless Slurm is down.
func (s *site) refresh() {
	s.t.Helper()
	if s.slurm.down != nil {
		return
	}
	if err := s.Refresh(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
}

// askAtOnce lets alice ask for 20 promises at the same time. It returns how many she gets, and why
// not the others.
func (s *site) askAtOnce() (granted int, refusals []*api.Refusal) {
	s.outlook.asked = nil // the forecasts need not be counted
	var wg sync.WaitGroup
	var mu sync.Mutex
	for range 20 {
		wg.Go(func() {
			a, err := s.Plan(s.t.Context(), "alice", request(epoch+7200), true)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err != nil:
				s.t.Error(err)
			case a.Plan != nil:
				granted++
			default:
				refusals = append(refusals, a.Refusal)
			}
		})
	}
	wg.Wait()
	return granted, refusals
}

// reading is the queue, and the time just before it was read.
type reading struct {
	queue []slurm.QueueEntry
	at    int64
}

func (s *site) read(ctx context.Context) (*reading, error) {
	at := s.clock
	queue, err := s.slurm.Queue(ctx)
	return &reading{queue, at}, err
}

// watch reads the queue and calls Watch, as varqd does. A Watch that does not return, for
// instance because it has not released the lock, is an error.
func (s *site) watch() error {
	ctx, cancel := context.WithTimeout(s.t.Context(), time.Minute)
	defer cancel()
	s.refresh()
	r, err := s.early, error(nil)
	if s.early = nil; r == nil {
		r, err = s.read(ctx)
	}
	if err == nil {
		err = s.Watch(ctx, r.queue, r.at)
	}
	return err
}

// watchBound calls WatchBound.
func (s *site) watchBound() error {
	ctx, cancel := context.WithTimeout(s.t.Context(), time.Minute)
	defer cancel()
	s.refresh()
	return s.WatchBound(ctx, s.clock, s.slurm.Job)
}

// request asks for two nodes for an hour.
func request(beginBy int64) *api.PlanRequest {
	return &api.PlanRequest{Job: workload.Request{Size: workload.Size{Nodes: 2, CPUs: 2}, Limit: 3600}, BeginBy: beginBy}
}

// clock formats a time, without the date on the day of the epoch.
func clock(at int64) string {
	if at == 0 {
		return "-"
	}
	return strings.TrimPrefix(slurmtime.Format(at, time.UTC), "2027-01-15T")
}

// span formats a duration.
func span(seconds int64) string {
	text := (time.Duration(seconds) * time.Second).String()
	if short, whole := strings.CutSuffix(text, "m0s"); whole {
		text = strings.TrimSuffix(short+"m", "h0m")
		if !strings.HasSuffix(text, "m") {
			text += "h"
		}
	}
	return text
}

// onlyPeer knows one peer, which speaks for all users at all sites.
func onlyPeer(name string) func(user string) *groups.Peer {
	return func(user string) *groups.Peer {
		if user != name {
			return nil
		}
		return &groups.Peer{Speaks: func(string) bool { return true }}
	}
}
