// Package ingest has varqd's forecasters live through what happens in a cluster:
// first its past, from accounting through a cache on disk, and then what is seen
// of the live queue and read from accounting. They are told of each submission,
// start and end once, in the order of time as far as it becomes known in it. Times
// are Unix seconds.
package ingest

import (
	"context"
	"fmt"
	"iter"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/live/history"
	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/workload"
)

const (
	// overlap is how far accounting is read again each time, in seconds: it may
	// learn of a job's end that much later.
	overlap = 600
	// blind is for how long, in seconds, nothing may be seen of the queue or of
	// accounting before the past is lived through anew, with what was missed in its
	// place.
	blind = 3600
	// remembered is how many past jobs are lived through, those that started last.
	remembered = 50_000
)

// day in seconds.
const day = 86400

// Source reads past jobs.
type Source interface {
	// History yields the jobs that started or ended in [from, to), Unix
	// seconds, and perhaps others that overlap it: window by window, in no
	// order within one. A job that was still running when it was first read
	// comes again, with its end, when a later interval is read; (ID, Submit)
	// identifies it, since every requeue is a job of its own. After each
	// window progress, if not nil, is told how far the history is complete;
	// reading may be resumed from there, less the seconds by which Slurm's
	// accounting lags. The first error ends the sequence.
	History(ctx context.Context, from, to int64, progress func(slurm.Progress)) iter.Seq2[workload.Job, error]
}

// Options configure an Ingest.
type Options struct {
	Cache  *history.History
	Source Source
	// Confidence is the level of lower bounds on probabilities.
	Confidence float64
	// OldOdds are what Odds of an earlier Ingest returned last, or nil.
	OldOdds []forecast.Odds
	// Days is how many days of the past are kept.
	Days int
	// Own are a site's own forecasters, which join those that there are. They are
	// not told of the past: see Past.
	Own []forecast.Forecaster
	// Told, if not nil, is told of the jobs of accounting before they count as
	// read; if it fails they will be read again.
	Told func(ctx context.Context, jobs []workload.Job) error
	Now  func() int64
	Log  *slog.Logger
}

// Ingest has forecasters live through what happens. Load and CatchUp are called
// one after the other by one goroutine; every other method may be called at any
// time.
type Ingest struct {
	Options
	site site

	present atomic.Pointer[present] // nil until the past is loaded

	storing sync.Mutex // held while the cache grows and what is new is told
	look    *look      // the last one
	missed  bool       // much was: accounting is not told late, but lived through anew
	// While the past is being lived through, starts that are new are kept in news.
	reliving bool
	news     []workload.Job

	percent atomic.Int64 // of the first load
	covered atomic.Int64
}

// New returns an Ingest that has learnt nothing yet.
func New(o Options) *Ingest { return &Ingest{Options: o} }

// Load lives through what the cache holds. It is filled from accounting first,
// from where the last attempt left off; if it was once filled up, varqd does
// without what is new while accounting is away. Ready succeeds once Load has.
func (g *Ingest) Load(ctx context.Context) error {
	coverage, err := g.Cache.Coverage(ctx)
	if err != nil {
		return err
	}
	since := g.Now() - int64(g.Days)*day
	if coverage.Since == 0 || coverage.Since > since+day {
		coverage = history.Coverage{Since: since, Until: since}
		if _, err := g.Cache.Add(ctx, nil, &coverage); err != nil {
			return err
		}
	}
	if err := g.Cache.Prune(ctx, since); err != nil {
		return err
	}
	if !coverage.Complete {
		g.Log.Info("reading history from accounting for the first time", "days", g.Days)
	}
	if err := g.read(ctx, coverage); err != nil {
		if !coverage.Complete || ctx.Err() != nil {
			return err
		}
		g.Log.Warn("beginning with what was known before", "error", err)
	}
	return g.relive(ctx)
}

// CatchUp reads from accounting what has happened since it was last read.
func (g *Ingest) CatchUp(ctx context.Context) error {
	coverage, err := g.Cache.Coverage(ctx)
	if err != nil {
		return err
	}
	missed := g.missedMuch(coverage.Until)
	if err := g.read(ctx, coverage); err != nil {
		return err
	}
	if missed {
		if err := g.relive(ctx); err != nil {
			return err
		}
	}
	return g.Cache.Prune(ctx, g.Now()-int64(g.Days)*day)
}

// missedMuch reports whether too much was missed to be told late.
func (g *Ingest) missedMuch(covered int64) bool {
	g.storing.Lock()
	defer g.storing.Unlock()
	g.missed = g.missed || g.Now()-covered > blind
	return g.missed
}

// read reads accounting from a little before coverage's end until now, window
// by window; each counts as read once it is in the cache.
func (g *Ingest) read(ctx context.Context, coverage history.Coverage) error {
	first := !coverage.Complete
	from, to := max(coverage.Since, coverage.Until-overlap), g.Now()
	var batch []workload.Job
	var failed error
	said := g.Now()
	window := func(p slurm.Progress) {
		if failed != nil {
			return
		}
		coverage.Until = max(coverage.Until, p.Complete)
		coverage.Complete = coverage.Complete || p.Complete >= to
		failed = g.store(ctx, batch, &coverage)
		batch = batch[:0]
		if first {
			percent := 100 * (p.Complete - coverage.Since) / max(1, to-coverage.Since)
			g.percent.Store(percent)
			if now := g.Now(); now >= said+5 {
				said = now
				g.Log.Info("reading history", "percent", percent, "jobs", p.Jobs)
			}
		}
	}
	for job, err := range g.Source.History(ctx, from, to, window) {
		if err != nil {
			return fmt.Errorf("read accounting: %w", err)
		}
		if failed != nil {
			break
		}
		batch = append(batch, job)
	}
	return failed
}

// store takes in jobs of accounting.
func (g *Ingest) store(ctx context.Context, jobs []workload.Job, coverage *history.Coverage) error {
	if g.Told != nil {
		if err := g.Told(ctx, jobs); err != nil {
			return err
		}
	}
	if err := g.add(ctx, jobs, coverage); err != nil {
		return err
	}
	if g.Ready() == nil {
		g.covered.Store(coverage.Until)
	}
	return nil
}

// add puts jobs of accounting into the cache, and tells of what is new.
func (g *Ingest) add(ctx context.Context, jobs []workload.Job, coverage *history.Coverage) error {
	g.storing.Lock()
	defer g.storing.Unlock()
	fresh, err := g.Cache.Add(ctx, jobs, coverage)
	if err != nil {
		return err
	}
	if p := g.present.Load(); p != nil && !g.missed {
		p.accounted(jobs, runsOf(fresh))
	}
	return nil
}

// Watched takes in the live queue as it was looked at, at a time: it tells of what
// has changed since it was last called.
func (g *Ingest) Watched(ctx context.Context, queue []slurm.QueueEntry, at int64) error {
	g.storing.Lock()
	defer g.storing.Unlock()
	l := &look{queue, at}
	p := g.present.Load()
	if p == nil {
		g.look = l
		return nil
	}
	fresh, err := g.Cache.Add(ctx, p.unseen(l), nil)
	if err != nil {
		return err
	}
	g.missed = g.missed || g.look != nil && at-g.look.at > blind
	g.look = l
	if g.reliving {
		g.news = append(g.news, fresh...)
	}
	p.looked(l, runsOf(fresh))
	return nil
}

// Ready returns nil once the past is loaded, and else says how far it is.
func (g *Ingest) Ready() error {
	if g.present.Load() != nil {
		return nil
	}
	return fmt.Errorf("varqd is still loading history: %d%%", g.percent.Load())
}

// Covered returns the time up to which all jobs that have ended are known.
func (g *Ingest) Covered() int64 { return g.covered.Load() }

// Learnt returns how many starts the forecasters know of, and the latest.
func (g *Ingest) Learnt() (starts int, newest int64) {
	p := g.present.Load()
	if p == nil {
		return 0, 0
	}
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.starts, p.newest
}
