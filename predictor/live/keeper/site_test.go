package keeper

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/live/desk"
	"github.com/varq-project/varq/predictor/live/desk/desktest"
	"github.com/varq-project/varq/predictor/live/groups"
	"github.com/varq-project/varq/predictor/live/look"
	"github.com/varq-project/varq/predictor/live/records"
	"github.com/varq-project/varq/predictor/live/statefile"
	"github.com/varq-project/varq/predictor/slurm"
)

// site is a keeper and a desk with a fake Slurm, a fake Outlook and a real ledger.
type site struct {
	*desktest.Site
	desk    *desk.Desk
	keeper  *Keeper
	records *records.Records
	homes   fakeHomes
	notices []api.Notice
	early   *reading // what the next watch has read already, or nil
}

// newSite returns a site where jobs wait for ten minutes.
func newSite(t testing.TB) *site {
	s := &site{Site: desktest.NewSite(t)}
	s.open()
	return s
}

// open creates a new keeper on the ledger as it is.
func (s *site) open() {
	s.T.Helper()
	home, err := groups.New(context.WithoutCancel(s.T.Context()), groups.Options{
		Ledger: s.Ledger, Peer: onlyPeer("varq"), Now: s.Now, Prob: .9, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		s.T.Fatal(err)
	}
	s.homes.Groups = home
	promises := prometheus.NewCounter(prometheus.CounterOpts{Name: "varq_promises_total"})
	s.Registry.MustRegister(promises)
	s.desk = desk.New(desk.Options{
		Premises: s.Premises, Ledger: s.Ledger, Outlook: s.Outlook, Health: s.Outlook, Homes: &s.homes, Job: s.Slurm.Job, Now: s.Now, Zone: time.UTC,
		Prob: .9, Confidence: .95, Horizon: 86400, Log: s.Log, Metrics: desk.Metrics{Promises: promises},
	})
	s.keeper = New(Options{
		Desk: s.desk, Ledger: s.Ledger, Slurm: s.Slurm, Outlook: s.Outlook, Health: s.Outlook, Homes: &s.homes, Now: s.Now, Zone: time.UTC,
		Grace: 300, Settle: 300, Tell: func(n api.Notice) { s.notices = append(s.notices, n) }, Log: s.Log, Metrics: NewMetrics(s.Registry),
	})
	s.records = &records.Records{Ledger: s.Ledger, Premises: s.Premises, Describe: s.keeper.Describe, Now: s.Now, Zone: time.UTC}
}

// crash drops the keeper and opens another on the same ledger, as after kill -9.
func (s *site) crash() {
	s.File.Close()
	s.Open()
	s.open()
}

// backup backs up the ledger.
func (s *site) backup() {
	s.T.Helper()
	if _, err := statefile.Backup(s.T.Context(), s.Path, s.Path+".backup"); err != nil {
		s.T.Fatal(err)
	}
}

// restore opens a keeper on the ledger as it was at the last backup.
func (s *site) restore() {
	s.T.Helper()
	s.File.Close()
	if _, err := statefile.Restore(s.T.Context(), s.Path+".backup", s.Path, s.Clock); err != nil {
		s.T.Fatal(err)
	}
	s.Open()
	s.open()
}

// reading is the queue, and the time just before it was read.
type reading struct {
	queue []slurm.QueueEntry
	at    int64
}

func (s *site) read(ctx context.Context) (*reading, error) {
	at := s.Clock
	queue, err := s.Slurm.Queue(ctx)
	return &reading{queue, at}, err
}

// watch reads the queue and calls Watch, as varqd does. A Watch that does not return, for instance
// because it has not released the lock, is an error.
func (s *site) watch() error {
	ctx, cancel := context.WithTimeout(s.T.Context(), time.Minute)
	defer cancel()
	s.Refresh()
	r, err := s.early, error(nil)
	if s.early = nil; r == nil {
		r, err = s.read(ctx)
	}
	if err == nil {
		err = s.keeper.Watch(ctx, look.New(r.queue, r.at))
	}
	return err
}

// watchBound calls WatchBound.
func (s *site) watchBound() error {
	ctx, cancel := context.WithTimeout(s.T.Context(), time.Minute)
	defer cancel()
	s.Refresh()
	return s.keeper.WatchBound(ctx, s.Clock, s.Slurm.Job)
}

// forecastOf returns the present forecast of a reservation, or -1 if there is none.
func forecastOf(r *api.Reservation) float64 {
	if r.Now == nil {
		return -1
	}
	return *r.Now
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
