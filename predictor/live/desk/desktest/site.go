package desktest

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
	"github.com/varq-project/varq/predictor/live/ledger"
	"github.com/varq-project/varq/predictor/live/premises"
	"github.com/varq-project/varq/predictor/live/sqlitefile"
	"github.com/varq-project/varq/predictor/live/statefile"
	"github.com/varq-project/varq/predictor/slurmtime"
	"github.com/varq-project/varq/predictor/workload"
)

// Epoch is the time at which each test begins: 2027-01-15T08:00:00 in UTC.
const Epoch = 1_800_000_000

// Site is what a desk needs: a fake Slurm, a fake Outlook, premises made from these, and a real
// ledger.
type Site struct {
	T        testing.TB
	Path     string           // of the ledger
	File     *sqlitefile.File // of the ledger
	Ledger   *ledger.Ledger
	Premises *premises.Premises
	Slurm    *Slurm
	Outlook  *Outlook
	Registry *prometheus.Registry
	Clock    int64
	Log      *slog.Logger
	Warnings strings.Builder // warnings and errors
}

// emptyLedger is the file of a ledger without promises. Each site has a copy, because walking
// through all schemas takes longer than most tests.
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

// NewSite returns a Site where jobs wait for ten minutes.
func NewSite(t testing.TB) *Site {
	s := &Site{
		T: t, Path: filepath.Join(t.TempDir(), "ledger.db"), Clock: Epoch,
		Slurm: NewSlurm(), Outlook: &Outlook{Delay: 600, Asked: map[int64]int{}},
	}
	s.Log = slog.New(slog.NewTextHandler(&s.Warnings, &slog.HandlerOptions{Level: slog.LevelWarn}))
	empty, err := emptyLedger()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(s.Path, empty, 0o600); err != nil {
		t.Fatal(err)
	}
	s.Open()
	t.Cleanup(func() { s.File.Close() })
	return s
}

// Open opens the ledger, as a varqd does when it starts.
func (s *Site) Open() {
	s.T.Helper()
	var err error
	if s.File, err = statefile.Open(s.Path); err != nil {
		s.T.Fatal(err)
	}
	s.Ledger, s.Registry = ledger.New(s.File), prometheus.NewRegistry()
	s.Premises = premises.New(premises.Options{
		Slurm: s.Slurm, Observe: s.Outlook.ObserveCluster, Loaded: s.Outlook.Ready, Now: s.Now, Zone: time.UTC, Stale: 900,
	})
	s.Refresh()
}

// Now returns the time of the site's clock.
func (s *Site) Now() int64 { return s.Clock }

// Refresh reads the premises anew, unless Slurm is down.
func (s *Site) Refresh() {
	s.T.Helper()
	if s.Slurm.Down != nil {
		return
	}
	if err := s.Premises.Refresh(context.WithoutCancel(s.T.Context())); err != nil {
		s.T.Fatal(err)
	}
}

// FillDisk leaves the ledger no more room than it has taken.
func (s *Site) FillDisk() {
	s.T.Helper()
	if err := s.File.Write(s.T.Context(), func(tx *sql.Tx) error { _, err := tx.Exec("PRAGMA max_page_count = 1"); return err }); err != nil {
		s.T.Fatal(err)
	}
}

// Request asks for two nodes for an hour.
func Request(beginBy int64) *api.PlanRequest {
	return &api.PlanRequest{Job: workload.Request{Size: workload.Size{Nodes: 2, CPUs: 2}, Limit: 3600}, BeginBy: beginBy}
}

// Clock formats a time. It omits the date on the day of the Epoch.
func Clock(at int64) string {
	if at == 0 {
		return "-"
	}
	return strings.TrimPrefix(slurmtime.Format(at, time.UTC), "2027-01-15T")
}

// Span formats a duration.
func Span(seconds int64) string {
	text := (time.Duration(seconds) * time.Second).String()
	if short, whole := strings.CutSuffix(text, "m0s"); whole {
		text = strings.TrimSuffix(short+"m", "h0m")
		if !strings.HasSuffix(text, "m") {
			text += "h"
		}
	}
	return text
}
