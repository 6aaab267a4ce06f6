package trajectory

import (
	"github.com/varq-project/varq/predictor/prob"
	"github.com/varq-project/varq/predictor/workload"
)

// leastMove is the least change of the begin time, in seconds, for a promise that does not
// hold. It is two steps, so that noise in the forecasts does not change the begin time.
const leastMove = 2 * fineStep

// leastGain is how much more probable a start in time must become by a move that does not reach
// the promise: less is within the exactness of forecasts.
const leastGain = .02

// leastSaving is by how many seconds a move must shorten the time for which the nodes may idle, if
// the promise holds, and leastSavingShare by which part of that time. They are small, so that a job
// can be put off again while the queue stays short. They are not smaller, so that Slurm's jobs are
// not changed all the time. With a share, a job is put off a few times at most.
const (
	leastSaving      = 4 * 60
	leastSavingShare = 8
)

// venture limits a move that saves idle time, if the promise holds: the risk after the move
// may be at most this share of the risk promised, which is 1 minus the probability promised.
// The share is small because of the winner's curse. The plan is made anew again and again
// with forecasts that err in both directions. A planner that took every chance would end
// where the forecasts err most.
const venture = .2

// Submission is how a job is submitted: the begin time Begin (Unix seconds), from which the
// job is eligible, and the time limit Limit (seconds).
type Submission struct {
	Begin, Limit int64
}

// Revision is a pending reservation, planned anew.
type Revision struct {
	// Submission is the one to which to change the job. It equals the present one if
	// the job should stay as it is.
	Submission
	// Prob is the probability, as forecast now, that the job with this Submission starts
	// by the deadline.
	Prob float64
	// Stay is the same probability with the present submission, and Forecast the forecast of Stay,
	// which is more careful; see workload.Estimate.
	Stay, Forecast float64
	// Room is the bound on all three by the room that there is, however early the job starts.
	Room float64
	// Late is true if others leave too little room from a time before the deadline on.
	Late bool
	last int64 // as in bounds
}

// Replan plans the reservation of a pending job anew. r is the request that was promised,
// with Job as in Answer.Job and Now the present time. current is the job's present
// submission.
//
// Before the job is eligible, Replan may move it to another point of the trajectory. The
// promise holds if the present forecast is at least the probability promised.
//   - If the promise does not hold, Replan chooses as Plan does. If no point has the
//     probability promised, it chooses among the points with the highest probability. It
//     moves the job if the point has the probability promised, or one greater by leastGain than
//     the present submission; and if it is at least leastMove away, or r.Earliest, since what the
//     user agrees to is done, however little it is, or if the present submission falls short of
//     the promise by more than noise.
//   - If the promise holds, Replan chooses among the points whose risk is at most venture
//     times the risk promised. It moves the job if that saves enough; see leastSaving. It does not
//     move an array then: few arrays are known, so that the forecasts for them err more, and the
//     winner's curse is heavier.
//
// Replan keeps to r.Earliest: no revision lets the nodes idle for longer than was agreed on,
// even if the promise could be kept no other way. Rescue finds what would keep it.
//
// The room that there is bounds the probabilities of the result. It has a part in the choice only
// where others leave too little of it from a time on: Replan then chooses as if the job had to
// start before, if that is more probable.
//
// Once the job is eligible, Replan only shortens its limit: the nearer HoldUntil is, the
// shorter the time for which the nodes can still idle.
func (p *Planner) Replan(r Request, current Submission) Revision {
	b := p.bounds(&r)
	revised := p.replan(&r, b, current)
	slot, room := p.slot(&r, r.Deadline, max(revised.Prob, revised.Stay, r.Prob))
	revised.bound(room.Within(slot, r.Deadline))
	if last, ok := room.Last(r.Prob); ok {
		b.last = last
		early := p.replan(&r, b, current)
		early.bound(room.Within(last, last))
		stay, forecast := max(early.Stay, revised.Stay), max(early.Forecast, revised.Forecast)
		if early.Prob < revised.Prob {
			early.Submission, early.Prob = revised.Submission, revised.Prob
		}
		revised = early
		revised.Stay, revised.Forecast, revised.Late, revised.last = stay, forecast, true, last
	}
	if revised.Prob < r.Prob && (revised.Late || revised.Room < 1) {
		p.reopened(&r, b, current, &revised)
	}
	if revised.Begin != current.Begin && revised.Prob < r.Prob && revised.Prob <= revised.Stay {
		revised.Submission, revised.Prob = current, revised.Stay // to move it would be of no use
	}
	return revised
}

// reopened revises a promise by the opening in which it is most probable, if that is more than it
// is without.
func (p *Planner) reopened(r *Request, b bounds, current Submission, revised *Revision) {
	for _, o := range p.openings(r, revised.Prob) {
		b = o.bounds(r, b)
		in := p.replan(r, b, current)
		in.bound(o.room.Within(o.at, o.last))
		in.Stay, in.Forecast = max(in.Stay, revised.Stay), max(in.Forecast, revised.Forecast)
		in.Late, in.last = b.last != 0, b.last
		if in.Prob > revised.Prob {
			*revised = in
		}
	}
}

// Down says why nothing is known of the present submission of a job, as in workload.Estimate, or
// "".
func (p *Planner) Down(r Request, current Submission) string {
	begin := max(r.Now, current.Begin)
	return p.forecast(&r, workload.Candidate{Submit: begin, Limit: current.Limit, Budget: max(0, r.Deadline-begin), Job: r.ID}).Down
}

// bound bounds the probabilities of a revision by the room that there is.
func (v *Revision) bound(room float64) {
	v.Prob, v.Stay, v.Forecast, v.Room = min(v.Prob, room), min(v.Stay, room), min(v.Forecast, room), room
}

// replan is Replan within the bounds b, whatever the room is.
func (p *Planner) replan(r *Request, b bounds, current Submission) Revision {
	if r.Now >= current.Begin {
		trimmed := Submission{Begin: current.Begin, Limit: min(current.Limit, r.trimmed())}
		est := p.pending(r, b, trimmed)
		return Revision{Submission: trimmed, Prob: est.Prob, Stay: est.Prob, Forecast: est.Forecast}
	}
	stay := Revision{Submission: current}
	if r.Deadline <= r.Now {
		return stay
	}
	est := p.pending(r, b, current)
	stay.Prob, stay.Stay, stay.Forecast = est.Prob, est.Prob, est.Forecast
	points := p.forecasts(r, b, 1)
	better := func(to Point) bool {
		far := abs(to.Begin-current.Begin) >= leastMove || to.Begin == r.Earliest || prob.Short(stay.Prob, r.Prob)
		return far && (to.Prob >= r.Prob || to.Prob >= stay.Prob+leastGain)
	}
	enough, holds := r.Prob, stay.Prob >= r.Prob
	if holds && r.Tasks > 0 {
		return stay
	}
	if holds {
		enough = 1 - venture*(1-r.Prob)
		least := max(leastSaving, r.idle(current.Begin)/leastSavingShare)
		better = func(to Point) bool { return r.idle(to.Begin) <= r.idle(current.Begin)-least }
	}
	i := p.settle(r, points, enough)
	for i < 0 && !holds && len(points) > 0 {
		i = p.settle(r, points, highest(points))
	}
	if i < 0 || !better(points[i]) {
		return stay
	}
	to := points[i]
	return Revision{Submission: Submission{Begin: to.Begin, Limit: to.Limit}, Prob: to.Prob, Stay: stay.Stay, Forecast: stay.Forecast}
}

// trimmed returns the time limit that an eligible job needs if it starts now or later.
// Before HoldUntil the limit has one minute more, for clocks that differ.
func (r *Request) trimmed() int64 {
	if r.idle(r.Now) == 0 {
		return minutes(r.Job.Limit)
	}
	return r.enlarged(r.Now) + 60
}

// pending forecasts a job with its present submission: the rest of its wait, if it is eligible.
func (p *Planner) pending(r *Request, b bounds, s Submission) workload.Estimate {
	limit := s.Limit
	if r.Now >= s.Begin { // a limit that includes a hold shrinks until then
		limit = minutes(r.Job.Limit)
	}
	budget := b.budget(r, s)
	if r.Now >= r.Deadline || limit > b.longest || budget < max(0, r.Now-s.Begin) {
		return workload.Estimate{}
	}
	return p.forecast(r, workload.Candidate{Submit: s.Begin, Limit: s.Limit, Budget: budget, Job: r.ID})
}

// forecast forecasts a single candidate.
func (p *Planner) forecast(r *Request, c workload.Candidate) workload.Estimate {
	var e [1]workload.Estimate
	p.Forecaster.Forecast(r.All(), r.Now, []workload.Candidate{c}, e[:])
	return e[0]
}

func abs(x int64) int64 { return max(x, -x) }
