package ingest

import (
	"context"
	"slices"

	"github.com/varq-project/varq/predictor/cluster/queue"
	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/forecast/expert"
	"github.com/varq-project/varq/predictor/workload"
)

// rebuild makes a new model. The new model learns all that is known, of the past at most so many
// jobs, while the old one serves. Then it observes the events of that time, and serves.
func (g *Ingest) rebuild(ctx context.Context, most int) error {
	g.percent.Store(0)
	t, covered, jobs, err := g.begin(ctx, most)
	if err == nil {
		err = t.Learn(ctx, jobs, g.percent.Store)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if err == nil {
		g.replace(t)
		g.covered.Store(covered)
		g.percent.Store(0) // of the rest
		g.Log.Info("history loaded", "jobs", len(jobs), "more", t.learning)
	}
	g.rebuilding, g.meanwhile = false, nil
	return err
}

// begin returns the tracker of a new model, the time up to which accounting is covered, and the
// jobs that the model is to learn: those of the live queue, and of the past at most so many. From
// then on g.meanwhile collects the jobs that start.
func (g *Ingest) begin(ctx context.Context, most int) (t *tracker, covered int64, jobs []workload.Job, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.rebuilding, g.meanwhile = true, nil
	coverage, err := g.Cache.Coverage(ctx)
	if err != nil {
		return nil, 0, nil, err
	}
	jobs, more, err := g.past(ctx, most, g.last)
	if err != nil {
		return nil, 0, nil, err
	}
	t = &tracker{Model: g.NewModel(g.pools.lookup()), at: coverage.Until, learning: more && most < maxJobs}
	t.Hear(g.news())
	if g.last != nil {
		t.at = g.last.at
	}
	return t, coverage.Until, jobs, nil
}

// news returns all that is known of the cluster.
func (g *Ingest) news() expert.News {
	aging := g.order.aging
	return expert.News{Pools: g.pools.lookup(), Aging: &aging, Outages: g.outages.list}
}

// replace feeds to t what has happened since begin. Then t serves.
func (g *Ingest) replace(t *tracker) {
	started := runsOf(g.meanwhile)
	if g.last != nil && g.last.at > t.at {
		t.observeSnapshot(g.last, started)
	}
	t.observeAccounting(g.meanwhile, started)
	t.Hear(g.news())
	t.Serve()
	g.gap = false
	g.tracker.Store(t)
}

// past returns the newest jobs of the cache, at most so many, those of a snapshot, which may be
// nil, and whether the cache may have more. A job that has not ended is Running or Pending.
func (g *Ingest) past(ctx context.Context, most int, s *snapshot) (jobs []workload.Job, more bool, err error) {
	for job, err := range g.Cache.Jobs(ctx, most) {
		if err != nil {
			return nil, false, err
		}
		jobs = append(jobs, job)
	}
	more = len(jobs) == most
	var waiting, running []workload.Job
	if s != nil {
		waiting, running = s.jobs()
	}
	live := make(map[run]*workload.Job, len(running))
	for i := range running {
		live[runOf(&running[i])] = &running[i]
	}
	for i := range jobs {
		j := &jobs[i]
		key := runOf(j)
		if j.End == 0 {
			j.State = workload.Running
			if now := live[key]; now != nil {
				j.Limit, j.On = now.Limit, now.On // which may have changed since accounting told
			} else if s != nil && j.Start <= s.at {
				j.State = workload.Unknown // it has ended, but when?
			}
		}
		delete(live, key)
	}
	running = slices.DeleteFunc(running, func(j workload.Job) bool { return live[runOf(&j)] == nil })
	return slices.Concat(jobs, running, waiting), more, nil
}

// Replay replays to an observer all that is known of the past, up to the last snapshot of
// the queue.
func (g *Ingest) Replay(ctx context.Context, o forecast.Observer) error {
	g.mu.Lock()
	last := g.last
	g.mu.Unlock()
	jobs, _, err := g.past(ctx, maxJobs, last)
	if err != nil {
		return err
	}
	var q queue.Queue
	return forecast.Replay(jobs, &q, []forecast.Observer{o}, func(*workload.Job) error { return ctx.Err() })
}
