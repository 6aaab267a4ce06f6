package trajectory

import "github.com/varq-project/varq/predictor/workload"

// settle is the least change of a begin time in seconds, two steps, so that noise in the
// forecasts does not move it.
const settle = 2 * fineStep

// worthwhile is the least time of holding, in seconds, that a move of a promise that
// holds must save. It is so short that a job can be put off again and again as long as
// the queue stays short, and so long that Slurm's jobs are not changed all the time.
const worthwhile = 4 * 60

// venture is the share of the risk, 1 minus the probability promised, that a promise
// which holds may run after it is moved to save holding. The share is small because of
// the winner's curse: the plan is made anew again and again with forecasts that err in
// both directions, and a planner that took every chance would end where they err most.
const venture = .2

// Submission is the state of a pending job in Slurm's queue: it is eligible from Begin
// (Unix seconds) on, and has the time limit Limit (seconds).
type Submission struct {
	Begin, Limit int64
}

// Revision is a pending reservation, planned anew.
type Revision struct {
	// Submission is what the job is to be changed to. It equals the present one if
	// the job is to stay as it is.
	Submission
	// Prob is the probability, forecast now, that the job starts by the deadline
	// with this Submission.
	Prob float64
}

// Replan plans the reservation of a pending job anew. r is the request that it was
// planned for, with Job as in Answer.Job and Now the present time; current is the state
// of the job.
//
// Before the job is eligible, Replan moves its begin time to the point that Plan would
// choose, in two cases. Either the promise no longer holds, and the point is at least
// two steps away and more probable than the present one. Or the promise holds, the move
// saves at least four minutes of holding, and the risk at the point is at most a fifth
// of the risk promised.
//
// Once the job is eligible, Replan only trims its limit: the nearer HoldUntil, the
// shorter the job can still hold.
func (p *Planner) Replan(r Request, current Submission) Revision {
	if r.Now >= current.Begin {
		trimmed := Submission{Begin: current.Begin, Limit: min(current.Limit, r.trimmed())}
		return Revision{Submission: trimmed, Prob: p.waiting(&r, trimmed)}
	}
	stay := Revision{Submission: current}
	if r.Deadline <= r.Now {
		return stay
	}
	b := p.bounds(&r)
	stay.Prob = p.probability(&r, b, current)
	points := p.trajectory(&r, b, 1)
	enough := min(r.Prob, highest(points))
	better := func(to Point) bool { return to.Prob > stay.Prob && abs(to.Begin-current.Begin) >= settle }
	if stay.Prob >= r.Prob {
		enough = 1 - venture*(1-r.Prob)
		better = func(to Point) bool { return r.held(to.Begin) <= r.held(current.Begin)-worthwhile }
	}
	i := r.choose(points, enough)
	if i < 0 || !better(points[i]) {
		return stay
	}
	to := points[i]
	return Revision{Submission: Submission{Begin: to.Begin, Limit: to.Limit}, Prob: to.Prob}
}

// trimmed returns the time limit that an eligible job needs from now on. While it would
// have to hold its nodes, the limit has one minute more, for clocks that differ.
func (r *Request) trimmed() int64 {
	if r.held(r.Now) == 0 {
		return minutes(r.Job.Limit)
	}
	return r.enlarged(r.Now) + 60
}

// probability forecasts a job that is not eligible yet.
func (p *Planner) probability(r *Request, b bounds, s Submission) float64 {
	budget := b.budget(r, s)
	if budget < 0 || s.Limit > b.longest {
		return 0
	}
	return p.forecast(r, workload.Candidate{Submit: s.Begin, Limit: s.Limit, Budget: budget}).Prob
}

// waiting forecasts a job that is eligible: the probability that it starts by the
// deadline, given that it has not started yet.
func (p *Planner) waiting(r *Request, s Submission) float64 {
	if r.Now >= r.Deadline {
		return 0
	}
	b := p.bounds(r)
	c := workload.Candidate{Submit: s.Begin, Limit: s.Limit, Budget: b.budget(r, s)}
	waited := r.Now - s.Begin
	if c.Budget < waited {
		return 0
	}
	by := p.forecast(r, c).Prob
	c.Budget = waited
	before := p.forecast(r, c).Prob
	if by <= before || before >= 1 {
		return 0
	}
	return (by - before) / (1 - before)
}

// forecast forecasts a single candidate.
func (p *Planner) forecast(r *Request, c workload.Candidate) workload.Estimate {
	var e [1]workload.Estimate
	p.Forecaster.Forecast(r.Job, r.Now, []workload.Candidate{c}, e[:])
	return e[0]
}

func abs(x int64) int64 { return max(x, -x) }
