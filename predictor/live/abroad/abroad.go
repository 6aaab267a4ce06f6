// Package abroad answers probes about clusters that have no varqd. It reads a cluster's slurmrestd,
// and estimates slots with the methods of package esr. These estimates are all that it discloses of
// other users' jobs.
//
// Such a slurmrestd may answer garbage, slowly, never, or too much. Each reading is bounded in time
// and size, and no two readings run at once. A probe waits for a reading for some seconds. If the
// reading does not come, the probe uses an older one, or reports the trouble.
package abroad

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cluster/limits"
	"github.com/varq-project/varq/predictor/live/idle"
	"github.com/varq-project/varq/predictor/promise/esr"
	"github.com/varq-project/varq/predictor/promise/tariff"
	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/workload"
)

// Source is the cluster's slurmrestd.
type Source interface {
	// Layout returns partitions and Slurm's own reservations.
	Layout(ctx context.Context) (limits.Cluster, error)
	Nodes(ctx context.Context) ([]slurm.Node, error)
	// EachJob calls use for every pending and running job, and ends with its first error.
	EachJob(ctx context.Context, use func(*slurm.QueueEntry) error) error
}

// Options describe a cluster.
type Options struct {
	Name   string
	Source Source
	// Method is the one by which slots are estimated, one of esr's, and Scale h of the method
	// static, in seconds.
	Method string
	Scale  float64
	// Partition is the one for jobs that name none, if the cluster does not tell; empty if nobody
	// does.
	Partition string
	// Prob is the least probability of a slot, for requests that do not say.
	Prob float64
	// Power, Tariff and Unit are as of keeper.Site.
	Power  float64
	Tariff *tariff.Tariff
	Unit   string
	Idle   *idle.Store
	// Now is the clock, in Unix seconds, and Zone the site's time zone.
	Now  func() int64
	Zone *time.Location
	Log  *slog.Logger
}

const (
	// fresh is for how long, in seconds, a picture serves before it is read again, and stale for
	// how long it serves where that fails. After a failure the cluster is left alone for the time
	// again.
	fresh = 60
	stale = 120
	again = 15
	// waitTime is for how long a probe waits for a reading, and none if one has taken so long
	// already; readTime is how long one takes.
	waitTime = 5 * time.Second
	readTime = time.Minute
	// mostJobs is how many jobs a picture has.
	mostJobs = 200_000
)

// Site is a cluster. Its methods may be called concurrently.
type Site struct {
	Options
	asked    chan struct{} // holds a value if a reading is wanted
	patience time.Duration // for which a probe waits for a reading

	mu      sync.Mutex
	picture *picture      // the last; nil before the first
	tried   int64         // when the last reading ended, 0 before the first
	heard   int64         // when the cluster has last answered as it should, or 0
	began   int64         // when the reading under way began, or 0
	state   api.SiteState // as of the last reading
	// unread is why the last reading of all has failed, and uncounted why that of the nodes has;
	// nil if they have not.
	unread, uncounted error
	changed           chan struct{} // is closed when a reading ends
}

// picture is what a reading has shown. It is immutable.
type picture struct {
	limits limits.Cluster
	jobs   []workload.Job
	at     int64
}

// New returns a site of which nothing is known. Run reads it.
func New(o Options) *Site {
	return &Site{Options: o, asked: make(chan struct{}, 1), patience: waitTime, state: api.SiteState{Site: o.Name, Method: o.Method}, changed: make(chan struct{})}
}

// Run reads the cluster's nodes every five minutes, and all that a probe needs when there is one,
// until ctx is done.
func (s *Site) Run(ctx context.Context) {
	next := s.Now()
	for ctx.Err() == nil {
		if now := s.Now(); now >= next {
			next = now - now%esr.Interval + esr.Interval
			s.begin()
			err := s.count(ctx)
			s.end(ctx, func() {
				if s.uncounted = err; err == nil {
					s.heard = s.Now()
				}
			})
		}
		select {
		case <-ctx.Done():
		case <-s.asked:
			s.read(ctx)
		case <-time.After(time.Duration(max(1, next-s.Now())) * time.Second):
		}
	}
}

// count records how many nodes are idle.
func (s *Site) count(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readTime)
	defer cancel()
	nodes, err := s.Source.Nodes(ctx)
	if err != nil {
		return err
	}
	s.record(ctx, nodes)
	return nil
}

// record records how many nodes are idle.
func (s *Site) record(ctx context.Context, nodes []slurm.Node) {
	if err := s.Idle.Record(ctx, s.Name, s.Now(), idle.Count(nodes)); err != nil && ctx.Err() == nil {
		s.Log.Warn("how many nodes of a site are idle is not recorded", "site", s.Name, "error", err)
	}
}

// read reads all that a probe needs, unless that was done meanwhile.
func (s *Site) read(ctx context.Context) {
	s.mu.Lock()
	known := s.picture != nil && s.Now()-s.picture.at < fresh
	s.mu.Unlock()
	if known {
		return
	}
	s.begin()
	reading, cancel := context.WithTimeout(ctx, readTime)
	defer cancel()
	p, err := s.look(reading)
	s.end(ctx, func() {
		if s.unread = err; err == nil {
			s.picture, s.uncounted, s.heard = p, nil, s.Now()
		}
		s.tried = s.Now()
		close(s.changed)
		s.changed = make(chan struct{})
	})
}

func (s *Site) begin() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.began = s.Now()
}

// end ends a reading, whose outcome set notes, unless ctx is done.
func (s *Site) end(ctx context.Context, set func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.began = 0
	if ctx.Err() == nil {
		set()
		s.note(cmp.Or(s.unread, s.uncounted))
	}
}

// look returns what the cluster is like.
func (s *Site) look(ctx context.Context) (*picture, error) {
	p := &picture{}
	var err error
	if p.limits, err = s.Source.Layout(ctx); err != nil {
		return nil, err
	}
	nodes, err := s.Source.Nodes(ctx)
	if err != nil {
		return nil, err
	}
	p.at = s.Now()
	p.limits.Repeat(p.at, s.Zone)
	p.limits.Nodes = slurm.LimitsNodes(slurm.Maintained(nodes, p.limits.Reservations, p.at))
	if err := s.Source.EachJob(ctx, func(j *slurm.QueueEntry) error {
		if len(p.jobs) == mostJobs {
			return fmt.Errorf("its queue has more than %d jobs", mostJobs)
		}
		p.jobs = append(p.jobs, j.Job)
		return nil
	}); err != nil {
		return nil, err
	}
	s.record(ctx, nodes)
	return p, nil
}

// note notes whether the cluster has answered.
func (s *Site) note(err error) {
	if ok := err == nil; s.state.Since == 0 || s.state.OK != ok {
		s.state.OK, s.state.Since = ok, s.Now()
		if ok {
			s.Log.Info("a site answers", "site", s.Name)
		} else {
			s.Log.Warn("a site without varqd does not answer", "site", s.Name, "error", err)
		}
	}
	if s.state.Error = ""; err != nil {
		s.state.Error = err.Error()
	}
}

// State tells how the cluster is.
func (s *Site) State() api.SiteState {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state
}

// silence says since when the cluster has not told what a probe needs, and why.
func (s *Site) silence() string {
	does, span := "has not answered", ""
	if s.unread != nil {
		does += " as it should"
	}
	switch since := s.Now() - s.heard; {
	case s.heard == 0:
		span = " yet"
	case since < 120:
		span = fmt.Sprintf(" for %d s", since)
	default:
		span = fmt.Sprintf(" for %d minutes", since/60)
	}
	if s.unread != nil {
		span += fmt.Sprintf(": %.300s", s.unread.Error())
	}
	return "its slurmrestd " + does + span
}

// see returns a picture that is not stale, and what is to be told of one that is not of now. Its
// error is a fault of package api.
func (s *Site) see(ctx context.Context) (p *picture, note string, err error) {
	s.mu.Lock()
	now := s.Now()
	last, changed := s.picture, s.changed
	tired := s.tried != 0 && now-s.tried < again || s.began != 0 && now-s.began > int64(waitTime.Seconds())
	s.mu.Unlock()
	if last != nil && now-last.at < fresh {
		return last, last.age(now), nil
	}
	if !tired {
		select {
		case s.asked <- struct{}{}:
		default:
		}
		within, cancel := context.WithTimeout(ctx, s.patience)
		defer cancel()
		select {
		case <-changed:
		case <-within.Done():
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if p = s.picture; p != nil {
		switch now, age := s.Now(), p.age(s.Now()); {
		case now-p.at < fresh:
			return p, age, nil
		case now-p.at < stale:
			return p, age + ": " + s.silence(), nil
		}
	}
	return nil, "", api.Fault(api.ErrUnavailable, fmt.Sprintf("nothing is known of site %s: %s", s.Name, s.silence()))
}

// age says how old a picture is, unless it is of now.
func (p *picture) age(now int64) string {
	if now <= p.at {
		return ""
	}
	return fmt.Sprintf("it is judged by its queue as it was %d s ago", now-p.at)
}
