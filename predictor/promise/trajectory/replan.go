package trajectory

import "github.com/varq-project/varq/predictor/workload"

// settle is by how much, in seconds, a begin time must change to be worth
// changing: two steps, so that noise in the forecast does not move it.
const settle = 2 * fineStep

// worthwhile is how many seconds of holding must be saved for a promise that holds
// to be moved: few enough that a job which could begin at once can be put off again
// and again as long as the queue stays short, and enough that Slurm is not asked to
// change jobs all the time.
const worthwhile = 4 * 60

// venture is the share of the risk promised that a promise may run which holds and is
// moved to save holding. It is looked at again and again, and forecasts err now this
// way and now that: who took every chance would end where they err most, or wait
// until it is too late.
const venture = .2

// Submission is how a pending job stands in the queue: it is eligible from Begin
// (Unix seconds) on with the time limit Limit (seconds).
type Submission struct {
	Begin, Limit int64
}

// Revision is what is thought of a pending reservation now.
type Revision struct {
	// Submission is what the job should be changed to, equal to the present one
	// when nothing should be.
	Submission
	// Prob is the probability, as forecast now, that the job so changed starts
	// by the deadline.
	Prob float64
}

// Replan looks again at the reservation of a job that is still pending. r is the
// request it was planned for, with the job as Answer.Job has it and Now the
// present; current is how the job stands in the queue.
//
// As long as the job is not eligible, its begin time moves by the rule of Plan, but
// only when the promise no longer holds, and then by two steps or more and never to
// where it is worse kept than now; or when four minutes of holding or more are saved,
// at a fifth of the risk promised at most. From then on, only the limit changes: the
// nearer HoldUntil, the less time there is left to hold.
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

// trimmed is the time limit that a job needs which has not started yet. As long
// as it would have to hold its nodes, it gets a minute more, for clocks that
// disagree.
func (r *Request) trimmed() int64 {
	if r.held(r.Now) == 0 {
		return minutes(r.Job.Limit)
	}
	return r.enlarged(r.Now) + 60
}

// probability forecasts one submission that is not eligible yet.
func (p *Planner) probability(r *Request, b bounds, s Submission) float64 {
	budget := b.budget(r, s)
	if budget < 0 || s.Limit > b.longest {
		return 0
	}
	return p.forecast(r, workload.Candidate{Submit: s.Begin, Limit: s.Limit, Budget: budget}).Prob
}

// waiting forecasts a job that is eligible and waits: the probability that it
// starts by the deadline, given that it has not started until now.
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

// forecast asks about a single candidate.
func (p *Planner) forecast(r *Request, c workload.Candidate) workload.Estimate {
	var e [1]workload.Estimate
	p.Forecaster.Forecast(r.Job, r.Now, []workload.Candidate{c}, e[:])
	return e[0]
}

func abs(x int64) int64 { return max(x, -x) }
