// Package ingest learns queueing delay from a cluster's past: from accounting,
// through a cache on disk, and from the live queue as jobs start. Each start is
// learnt once, and starts are learnt in their order as far as they become known
// in it. Times are Unix seconds.
package ingest

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/varq-project/varq/predictor/accounting"
	"github.com/varq-project/varq/predictor/history"
	"github.com/varq-project/varq/predictor/qbets"
	"github.com/varq-project/varq/predictor/workload"
)

// overlap is how far accounting is read again each time, in seconds: it may
// learn of a job's end that much later.
const overlap = 600

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
	History(ctx context.Context, from, to int64, progress func(accounting.Progress)) iter.Seq2[workload.Job, error]
}

// Options configure an Ingest.
type Options struct {
	Cache  *history.History
	Source Source
	// Confidence is the level of every bound.
	Confidence float64
	// Days is how many days of the past are learnt from.
	Days int
	// Told, if not nil, is told of the jobs of accounting before they count as
	// read; if it fails they will be read again.
	Told func(ctx context.Context, jobs []workload.Job) error
	Now  func() int64
	Log  *slog.Logger
}

// Ingest holds what has been learnt. Load and CatchUp are called one after the
// other by one goroutine; every other method may be called at any time.
type Ingest struct {
	Options

	storing sync.Mutex // held while the cache grows and what is new is learnt
	running map[runKey]bool

	mu        sync.RWMutex // guards predictor
	predictor *qbets.Predictor
	ready     atomic.Bool

	percent atomic.Int64 // of the first load
	covered atomic.Int64
}

// runKey is one run of a job.
type runKey struct{ job, start int64 }

// New returns an Ingest that has learnt nothing yet.
func New(o Options) *Ingest {
	return &Ingest{Options: o, predictor: qbets.New(qbets.Options{Confidence: o.Confidence})}
}

// Load learns what the cache holds. A cache that was never filled is first
// filled from accounting, from where the last attempt left off. Ready succeeds
// once Load has.
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
		if err := g.read(ctx, coverage); err != nil {
			return err
		}
	}
	return g.learnCache(ctx)
}

// learnCache makes a new predictor of the whole cache.
func (g *Ingest) learnCache(ctx context.Context) error {
	g.storing.Lock()
	defer g.storing.Unlock()
	coverage, err := g.Cache.Coverage(ctx)
	if err != nil {
		return err
	}
	total, err := g.Cache.Len(ctx)
	if err != nil {
		return err
	}
	p := qbets.New(qbets.Options{Confidence: g.Confidence})
	n := 0
	for job, err := range g.Cache.Jobs(ctx) {
		if err != nil {
			return err
		}
		p.Learn(job)
		n++
		g.percent.Store(int64(100 * n / max(total, n)))
	}
	g.mu.Lock()
	g.predictor = p
	g.mu.Unlock()
	g.covered.Store(coverage.Until)
	g.ready.Store(true)
	g.Log.Info("history loaded", "jobs", n)
	return nil
}

// CatchUp reads from accounting what has happened since it was last read.
func (g *Ingest) CatchUp(ctx context.Context) error {
	coverage, err := g.Cache.Coverage(ctx)
	if err != nil {
		return err
	}
	if err := g.read(ctx, coverage); err != nil {
		return err
	}
	return g.Cache.Prune(ctx, g.Now()-int64(g.Days)*day)
}

// read reads accounting from a little before coverage's end until now, window
// by window; each counts as read once it is in the cache.
func (g *Ingest) read(ctx context.Context, coverage history.Coverage) error {
	first := !coverage.Complete
	from, to := max(coverage.Since, coverage.Until-overlap), g.Now()
	var batch []workload.Job
	var failed error
	said := g.Now()
	window := func(p accounting.Progress) {
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
	if g.ready.Load() {
		g.covered.Store(coverage.Until)
	}
	return nil
}

// add puts jobs into the cache and learns those whose start is new.
func (g *Ingest) add(ctx context.Context, jobs []workload.Job, coverage *history.Coverage) error {
	g.storing.Lock()
	defer g.storing.Unlock()
	fresh, err := g.Cache.Add(ctx, jobs, coverage)
	if err != nil {
		return err
	}
	if !g.ready.Load() {
		return nil // the cache will be learnt as a whole
	}
	slices.SortFunc(fresh, byStart)
	g.mu.Lock()
	defer g.mu.Unlock()
	for i := range fresh {
		g.predictor.Learn(fresh[i])
	}
	return nil
}

func byStart(a, b workload.Job) int {
	return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.ID, b.ID), cmp.Compare(a.Submit, b.Submit))
}

// Watched takes in the live queue: it learns the waits of the jobs that have
// started since it was last called. Until the past is loaded it does nothing.
func (g *Ingest) Watched(ctx context.Context, queue []accounting.QueueEntry) error {
	if !g.ready.Load() {
		return nil
	}
	running := make(map[runKey]bool)
	var started []workload.Job
	for i := range queue {
		j := &queue[i].Job
		if j.Start == 0 {
			continue
		}
		key := runKey{j.ID, j.Start}
		running[key] = true
		if !g.running[key] {
			started = append(started, *j)
		}
	}
	if len(started) > 0 {
		if err := g.add(ctx, started, nil); err != nil {
			return err
		}
	}
	g.running = running
	return nil
}

// Ready returns nil once the past is loaded, and else says how far it is.
func (g *Ingest) Ready() error {
	if g.ready.Load() {
		return nil
	}
	return fmt.Errorf("varqd is still loading history: %d%%", g.percent.Load())
}

// Covered returns the time up to which all jobs that have ended are known.
func (g *Ingest) Covered() int64 { return g.covered.Load() }

// Learnt returns how many waits were learnt, and the latest start among them.
func (g *Ingest) Learnt() (jobs int, newest int64) {
	g.mu.RLock()
	defer g.mu.RUnlock()
	return g.predictor.Len(), g.predictor.Newest()
}

// Forecast implements trajectory.Forecaster.
func (g *Ingest) Forecast(r workload.Request, now int64, c []workload.Candidate, est []workload.Estimate) {
	g.mu.RLock()
	defer g.mu.RUnlock()
	g.predictor.Forecast(r, now, c, est)
}

// Bound bounds a quantile of the wait of a job like r.
func (g *Ingest) Bound(r workload.Request, quantile float64) qbets.Bound {
	g.mu.RLock()
	defer g.mu.RUnlock()
	return g.predictor.Bound(r, g.Now(), quantile)
}
