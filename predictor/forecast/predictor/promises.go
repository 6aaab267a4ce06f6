package predictor

import (
	"cmp"

	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/forecast/pending"
	"github.com/varq-project/varq/predictor/workload"
)

// promises has the promises of jobs that wait, and the odds learnt from past promises.
type promises struct {
	open pending.Sample[promise] // by job
	odds odds
}

// promise is a promised start and its forecast when the promise was made.
type promise struct {
	user             string // whose job it is
	place            workload.Place
	submit, deadline int64   // Unix seconds
	budget           float64 // seconds from submit to deadline when the promise was made
	miss             float64 // upper bound on the probability of a start after the deadline
	left             int32   // of an array: promised tasks that have not started
}

func newPromises() promises {
	return promises{open: pending.New[promise](), odds: newOdds()}
}

// Promise records that a job, to be submitted at q.Submit, is promised a start by a deadline in
// Unix seconds because of the answer to q. Of an array, job is its number, and the start that of
// the last of q.Tasks. The caller calls it again when the job is moved to another q.Submit. good
// then says whether the promise is still good: false if the job is moved because the promise would
// probably be missed.
//
// Odds are learnt from the forecast on which the decision was made, so a call with the same
// q.Submit as before changes nothing. Forecasts made later are better: shortly before a
// miss they expect the miss, when nobody can avoid it any more. For the same reason a job
// whose promise is no longer good stays with the forecast of that promise. Odds then learn
// that the promise was made too boldly.
//
// Like an Observer's methods, Promise must not run at the same time as any other method.
func (p *Predictor) Promise(job int64, q *forecast.Question, deadline int64, good bool) {
	open := &p.promises.open
	old, ok := open.Get(job)
	switch {
	case ok && old.submit == q.Submit, !open.Wants(job):
	case ok && !good:
		old.submit = q.Submit
		open.Put(job, old)
	default:
		budget := float64(deadline - q.Submit)
		var a forecast.Answer
		if p.Forecast(q, &a) {
			open.Put(job, promise{q.User, q.Place(), q.Submit, deadline, budget, 1 - a.Lower.Within(budget), max(1, q.Tasks)})
		}
	}
}

// Inherit takes over the promises and odds of from, which is no longer to be used.
func (p *Predictor) Inherit(from *Predictor) {
	p.promises, from.promises = from.promises, newPromises()
}

// score learns from the start of a promised job, if the job began to wait when planned, and for
// the nodes that it was planned for.
//
// It judges the promise only for the odds, and only by the time of the start. What becomes
// of a reservation, for its user and for the record, is judged by live/keeper in outcome.
func (p *promises) score(j *workload.Job) {
	p.odds.revert(j.Start)
	id := cmp.Or(j.Array, j.ID)
	made, ok := p.open.Get(id)
	asPlanned := ok && made.submit == j.Since() && made.place == j.Place()
	if made.left--; asPlanned && made.left > 0 {
		p.open.Put(id, made)
		return
	}
	p.open.Take(id)
	if asPlanned {
		p.odds.learn(&made, j.Start)
	}
}

// drop forgets a job that has ended. A job that never started teaches nothing.
func (p *promises) drop(j *workload.Job) { p.open.Take(j.ID) }
