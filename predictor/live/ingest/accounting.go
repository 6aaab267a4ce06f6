package ingest

import (
	"context"
	"fmt"

	"github.com/varq-project/varq/predictor/live/history"
	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/workload"
)

// Load brings the cache up to date and has the first model learn it. The cache is filled
// from where the last attempt left off. If it was ever complete, a failure to read
// accounting is no error: the model does without what is new.
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
	return g.rebuild(ctx)
}

// CatchUp reads from accounting what has happened since it was last read.
func (g *Ingest) CatchUp(ctx context.Context) error {
	coverage, err := g.Cache.Coverage(ctx)
	if err != nil {
		return err
	}
	gap := g.checkGap(coverage.Until)
	if err := g.read(ctx, coverage); err != nil {
		return err
	}
	if gap {
		if err := g.rebuild(ctx); err != nil {
			return err
		}
	}
	return g.Cache.Prune(ctx, g.Now()-int64(g.Days)*day)
}

// checkGap reports whether a new model is needed, also because accounting is covered
// until too long ago.
func (g *Ingest) checkGap(covered int64) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.gap = g.gap || g.Now()-covered > maxGap
	return g.gap
}

// read reads accounting from a little before coverage's end until now, window by window.
// A window counts as read once it is in the cache.
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
		failed = g.store(ctx, batch, &coverage)
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

// store takes in jobs of accounting, which is covered as said once it returns.
func (g *Ingest) store(ctx context.Context, jobs []workload.Job, coverage *history.Coverage) error {
	if g.Accounted != nil {
		if err := g.Accounted(ctx, jobs); err != nil {
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

// add puts jobs of accounting into the cache, and has the model observe them.
func (g *Ingest) add(ctx context.Context, jobs []workload.Job, coverage *history.Coverage) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	started, err := g.Cache.Add(ctx, jobs, coverage)
	if err != nil {
		return err
	}
	if t := g.tracker.Load(); t != nil && !g.gap {
		t.accounting(jobs, runsOf(started))
	}
	return nil
}
