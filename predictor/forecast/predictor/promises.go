package predictor

import (
	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/forecast/pending"
	"github.com/varq-project/varq/predictor/workload"
)

// promises are those of jobs that wait, and the odds learnt from those that started.
type promises struct {
	open pending.Sample[promise]
	odds odds
}

// promise is what was forecast of a job when it was promised a start.
type promise struct {
	submit, deadline int64   // Unix seconds
	budget           float64 // seconds from submit to deadline when the promise was made
	miss             float64 // the probability, at most, of a start after the deadline
}

func newPromises() promises {
	return promises{open: pending.New[promise](), odds: newOdds()}
}

// Promise says that a job is promised a start by a deadline, Unix seconds, because of
// the answer to q, or that it is moved to q.Submit and whether its promise still holds.
//
// Odds are learnt from the forecast at the decision, which a call changes only if
// q.Submit is another than before. Whoever looks again until the end knows what will be
// missed, and may be unable to help it. For the same reason a job that is moved because
// its promise does not hold any more keeps the forecast of that promise: what is to be
// learnt is that it was made too boldly.
//
// Like an Observer's methods it must not run at the same time as any other.
func (p *Predictor) Promise(job int64, q *forecast.Question, deadline int64, holds bool) {
	open := &p.promises.open
	old, ok := open.Get(job)
	switch {
	case ok && old.submit == q.Submit, !open.Wants(job):
	case ok && !holds:
		old.submit = q.Submit
		open.Put(job, old)
	default:
		budget := float64(deadline - q.Submit)
		var a forecast.Answer
		if p.Forecast(q, &a) {
			open.Put(job, promise{q.Submit, deadline, budget, 1 - a.Lower.Within(budget)})
		}
	}
}

// Inherit takes over the promises and odds of a Predictor that is to be used no more.
func (p *Predictor) Inherit(from *Predictor) {
	p.promises, from.promises = from.promises, newPromises()
}

// settle learns from a job that started, if it was promised that and began to wait as
// it was to.
func (p *promises) score(j *workload.Job) {
	p.odds.revert(j.Start)
	if made, ok := p.open.Take(j.ID); ok && made.submit == j.Since() {
		p.odds.learn(made.budget, made.miss, j.Start > made.deadline)
	}
}

// drop forgets a job that ended, which teaches nothing if it never started.
func (p *promises) drop(j *workload.Job) { p.open.Take(j.ID) }
