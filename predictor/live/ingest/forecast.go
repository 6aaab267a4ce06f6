package ingest

import (
	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/workload"
)

// Forecast implements trajectory.Forecaster.
func (g *Ingest) Forecast(r workload.Request, now int64, c []workload.Candidate, est []workload.Estimate) {
	p := g.present.Load()
	if p == nil {
		clear(est)
		return
	}
	g.prepare(&r, now, c)
	p.mu.RLock()
	defer p.mu.RUnlock()
	forecast.Trajectory{Predictor: p.predictor}.Forecast(r, now, c, est)
}

// prepare lets those of the site's own forecasters who are asked much dearer one by
// one prepare for the candidates of a plan.
func (g *Ingest) prepare(r *workload.Request, now int64, c []workload.Candidate) {
	var questions []forecast.Question
	for _, f := range g.Own {
		f, ok := f.(interface{ Prepare([]forecast.Question) })
		if !ok || len(c) < 2 {
			continue
		}
		if questions == nil {
			questions = make([]forecast.Question, len(c))
			for i := range c {
				questions[i] = forecast.Question{Request: *r, Now: now, Submit: max(now, c[i].Submit)}
				questions[i].Limit = c[i].Limit
			}
		}
		f.Prepare(questions)
	}
}

// Predict answers how long a job like r would wait if it were submitted now. It
// reports false, with Down set where that is why, when it knows nothing to say.
func (g *Ingest) Predict(r workload.Request) (a forecast.Answer, ok bool) {
	p := g.present.Load()
	if p == nil {
		return a, false
	}
	p.mu.RLock()
	defer p.mu.RUnlock()
	now := g.Now()
	ok = p.predictor.Forecast(&forecast.Question{Request: r, Now: now, Submit: now}, &a)
	return a, ok
}

// Promise tells that a job of which r is asked is promised a start by a deadline
// because of what is forecast of it at a begin time to come, or that it was and is
// moved as that no longer holds. To tell it again changes nothing unless it begins at
// another.
func (g *Ingest) Promise(job int64, r workload.Request, begin, deadline int64, holds bool) {
	p, now := g.present.Load(), g.Now()
	if p == nil || begin < now { // who waits already was promised something before
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.predictor.Promise(job, &forecast.Question{Request: r, Now: now, Submit: begin}, deadline, holds)
}

// Odds returns what has become of promises, nil until the past is loaded.
func (g *Ingest) Odds() []forecast.Odds {
	p := g.present.Load()
	if p == nil {
		return nil
	}
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.predictor.Odds()
}

// Queue returns how many jobs are known to wait and how many to run.
func (g *Ingest) Queue() (waiting, running int) {
	p := g.present.Load()
	if p == nil {
		return 0, 0
	}
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.queue.Len()
}

// Ask asks every forecaster, and all together, and says who answers what. Those
// that know nothing are left out.
func (g *Ingest) Ask(q *forecast.Question, say func(name string, a *forecast.Answer)) {
	p := g.present.Load()
	if p == nil {
		return
	}
	p.mu.RLock()
	defer p.mu.RUnlock()
	var a forecast.Answer
	for _, f := range append([]forecast.Forecaster{p.predictor}, p.predictor.Members()...) {
		if f.Forecast(q, &a) {
			say(f.Name(), &a)
		}
	}
}
