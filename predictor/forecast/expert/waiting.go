package expert

import (
	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/forecast/forest"
	"github.com/varq-project/varq/predictor/forecast/pending"
	"github.com/varq-project/varq/predictor/workload"
)

// Waiting forecasts how much longer a job waits that waits already. It learns from sights: of some
// jobs, while they wait, it is told by Expect, and by Score how much longer they did wait. To a
// Forest's features of such a situation it adds how long the job has waited.
//
// A sight is a job of an ID of its own that is Eligible when it is seen.
type Waiting struct {
	forest *Forest
	seen   pending.Sample[forest.Case] // by sight
}

// NewWaiting returns a Waiting that has learnt nothing. The caller must tell f of each event.
func NewWaiting(f *Forest) *Waiting {
	return &Waiting{forest: f, seen: pending.New[forest.Case]()}
}

// Name returns "waiting".
func (*Waiting) Name() string { return "waiting" }

// Forecast implements forecast.Forecaster. It has no answer about a job that does not wait yet.
func (w *Waiting) Forecast(q *forecast.Question, a *forecast.Answer) bool {
	*a = forecast.Answer{}
	if q.Since == 0 {
		return false
	}
	s := w.forest.situation(q)
	a.Sample = float64(min(w.forest.resting.Learnt(), 1000))
	a.Simulated = s.policy
	if !w.forest.resting.Predict(s.asCase.Case, &a.Wait) {
		return false
	}
	if w.forest.beyond != nil {
		a.Beyond = w.forest.beyond.apply(&a.Wait, s.asCase.anchor, &q.Request)
	}
	return true
}

// Expect takes in a sight of the job that a question is about.
func (w *Waiting) Expect(sight *workload.Job, q forecast.Question) {
	if w.seen.Wants(sight.ID) {
		w.seen.Put(sight.ID, w.forest.situation(&q).asCase.Case)
	}
	w.forest.resting.Grow()
}

// Score learns from a sight of a job that has started.
func (w *Waiting) Score(sight *workload.Job) {
	if c, ok := w.seen.Take(sight.ID); ok {
		if rest, ok := sight.Wait(); ok {
			w.forest.resting.Learn(c, float64(rest))
		}
	}
}

// Drop forgets a sight of a job that does not start.
func (w *Waiting) Drop(sight *workload.Job) { w.seen.Take(sight.ID) }

// Submitted implements forecast.Observer.
func (*Waiting) Submitted(*workload.Job) {}

// Started implements forecast.Observer.
func (*Waiting) Started(*workload.Job) {}

// Ended implements forecast.Observer.
func (*Waiting) Ended(*workload.Job) {}
