package ingest

import (
	"context"
	"fmt"
	"slices"

	"github.com/varq-project/varq/predictor/live/history"
	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/workload"
)

// Load brings the cache up to date, and makes the first model from the newest jobs in it. An
// attempt begins to read where the last one left off. If the cache was ever complete, a failure to
// read accounting is not an error: the model then learns only what is in the cache.
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
	return g.rebuild(ctx, g.Soon)
}

// CatchUp reads the accounting since the last reading, and feeds it to the model. After a gap it
// makes a new model instead. If Load has left jobs of the past, CatchUp first makes a model of
// these too.
func (g *Ingest) CatchUp(ctx context.Context) error {
	if g.Learning() {
		if err := g.rebuild(ctx, maxJobs); err != nil {
			return err
		}
	}
	coverage, err := g.Cache.Coverage(ctx)
	if err != nil {
		return err
	}
	gap := g.noteGap(coverage.Until)
	if err := g.read(ctx, coverage); err != nil {
		return err
	}
	if gap {
		if err := g.rebuild(ctx, maxJobs); err != nil {
			return err
		}
	}
	return g.Cache.Prune(ctx, g.Now()-int64(g.Days)*day)
}

// noteGap sets gap if accounting was read more than maxGap ago, and returns gap.
func (g *Ingest) noteGap(covered int64) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.gap = g.gap || g.Now()-covered > maxGap
	return g.gap
}

// read reads accounting from overlap before the end of coverage until now. A window counts
// as read once store has put it into the cache.
func (g *Ingest) read(ctx context.Context, coverage history.Coverage) error {
	first := !coverage.Complete
	from, to := max(coverage.Since, coverage.Until-overlap), g.Now()
	var batch []workload.Job
	var failed error
	logged := g.Now()
	window := func(p slurm.Progress) {
		if failed != nil {
			return
		}
		coverage.Until = max(coverage.Until, p.Complete)
		coverage.Complete = coverage.Complete || p.Complete >= to
		failed = g.store(ctx, batch, &coverage, first)
		batch = batch[:0]
		if first {
			percent := 100 * (p.Complete - coverage.Since) / max(1, to-coverage.Since)
			g.percent.Store(percent)
			if now := g.Now(); now >= logged+5 {
				logged = now
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

// store passes the jobs of a window of accounting to OnAccounting, the cache and the model.
// The cache's coverage is then the one given. first says that it is of the first reading.
func (g *Ingest) store(ctx context.Context, jobs []workload.Job, coverage *history.Coverage, first bool) error {
	if g.OnAccounting != nil {
		if err := g.OnAccounting(ctx, jobs); err != nil {
			return err
		}
	}
	if err := g.add(ctx, jobs, coverage, first); err != nil {
		return err
	}
	if g.Ready() == nil {
		g.covered.Store(coverage.Until)
	}
	return nil
}

// add puts the jobs of a window into the cache, and feeds them to the model.
func (g *Ingest) add(ctx context.Context, jobs []workload.Job, coverage *history.Coverage, first bool) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.last != nil { // the next snapshot tells when those that wait have started
		waiting := g.last.waiting()
		jobs = slices.DeleteFunc(jobs, func(j workload.Job) bool { return j.End == 0 && waiting[j.Submission()] })
	}
	g.shown.mark(jobs)
	started, err := g.Cache.Add(ctx, jobs, coverage)
	if err != nil {
		return err
	}
	if !first {
		g.tellStarts(started)
	}
	if t := g.tracker.Load(); t != nil && !g.gap {
		t.observeAccounting(jobs, runsOf(started))
	}
	return nil
}
