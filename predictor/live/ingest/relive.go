package ingest

import (
	"context"
	"slices"

	"github.com/varq-project/varq/predictor/cluster/queue"
	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/workload"
)

// relive has new forecasters live through all that is known, and then lets them
// take the place of the old ones, which answer until then. What becomes known
// meanwhile is told at the end.
func (g *Ingest) relive(ctx context.Context) error {
	p, jobs, err := g.begin(ctx)
	if err == nil {
		n := 0
		err = forecast.Replay(jobs, &p.queue, []forecast.Observer{p}, func(*workload.Job) error {
			n++
			p.predictor.Hurry(len(jobs) - n)
			g.percent.Store(int64(100 * n / len(jobs)))
			return ctx.Err()
		})
		p.predictor.Hurry(0)
	}
	g.storing.Lock()
	defer g.storing.Unlock()
	if err == nil {
		g.replace(p)
		g.Log.Info("history loaded", "jobs", len(jobs))
	}
	g.reliving, g.news = false, nil
	return err
}

// begin returns new forecasters, and what they are to live through: all that is
// known of the past and of the live queue. What is new from then on becomes news.
func (g *Ingest) begin(ctx context.Context) (*present, []workload.Job, error) {
	g.storing.Lock()
	defer g.storing.Unlock()
	g.reliving, g.news = true, nil
	coverage, err := g.Cache.Coverage(ctx)
	if err != nil {
		return nil, nil, err
	}
	jobs, err := g.past(ctx, g.look)
	if err != nil {
		return nil, nil, err
	}
	p := newPresent(&g.site, g.Confidence, g.Own)
	p.last, p.covered = coverage.Until, coverage.Until
	if g.look != nil {
		p.last = g.look.at
	}
	return p, jobs, nil
}

// replace lets p take the place of what was there, once it knows the news, too.
func (g *Ingest) replace(p *present) {
	fresh := runsOf(g.news)
	if g.look != nil && g.look.at > p.last {
		p.looked(g.look, fresh)
	}
	p.accounted(g.news, fresh)
	g.site.tell(p)
	p.open()
	if old := g.present.Load(); old == nil {
		p.predictor.SetOdds(g.OldOdds)
	} else {
		old.mu.Lock()
		p.predictor.Inherit(old.predictor)
		old.mu.Unlock()
		g.relearn()
	}
	g.missed = false
	g.present.Store(p)
	g.covered.Store(p.covered)
}

// relearn has those of the site's own forecasters who can be told the past again
// be told: what was missed is in it.
func (g *Ingest) relearn() {
	for _, f := range g.Own {
		if f, ok := f.(interface{ Relearn() }); ok {
			f.Relearn()
		}
	}
}

// past returns the jobs of the cache, together with those of a look, or of nil: who
// has not ended runs or waits.
func (g *Ingest) past(ctx context.Context, l *look) ([]workload.Job, error) {
	var jobs []workload.Job
	for job, err := range g.Cache.Jobs(ctx, remembered) {
		if err != nil {
			return nil, err
		}
		jobs = append(jobs, job)
	}
	var waiting, running []workload.Job
	if l != nil {
		waiting, running = l.jobs()
	}
	live := make(map[run]bool, len(running))
	for i := range running {
		live[runOf(&running[i])] = true
	}
	for i := range jobs {
		j := &jobs[i]
		key := runOf(j)
		if j.End == 0 {
			j.State = workload.Running
			if l != nil && j.Start <= l.at && !live[key] {
				j.State = workload.Unknown // it has ended, but when?
			}
		}
		delete(live, key)
	}
	running = slices.DeleteFunc(running, func(j workload.Job) bool { return !live[runOf(&j)] })
	return slices.Concat(jobs, running, waiting), nil
}

// Past tells an observer of everything that is known of the past, up to the last
// look at the queue.
func (g *Ingest) Past(ctx context.Context, o forecast.Observer) error {
	g.storing.Lock()
	l := g.look
	g.storing.Unlock()
	jobs, err := g.past(ctx, l)
	if err != nil {
		return err
	}
	var q queue.Queue
	return forecast.Replay(jobs, &q, []forecast.Observer{o}, func(*workload.Job) error { return ctx.Err() })
}
