package scenario

import (
	"math/rand/v2"
	"slices"

	"github.com/varq-project/varq/predictor/cluster/sched"
	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/promise/trajectory"
	"github.com/varq-project/varq/predictor/trial/follow"
	"github.com/varq-project/varq/predictor/workload"
)

// varqd does in a simulation what the daemon varqd does on a live cluster. It follows the
// queue, passes what happens to the forecaster, and plans reservations.
type varqd struct {
	*VARQ
	follow.Follower
	forecaster forecaster
	planner    trajectory.Planner

	asked   int                     // requests
	offered int                     // of those refused, who got an offer
	kinds   map[trajectory.Kind]int // of offers
	moves   []int                   // promises by how often their begin time changed
	down    int                     // refusals because the cluster seemed to be down
	why     string                  // the reason given with the last refusal counted in down
	prob    float64                 // sum of the promises' forecasts, without those of offers
	// processor seconds of jobs with promises
	work, held, booked float64
}

// promise is a reservation that was granted.
type promise struct {
	trajectory.Request
	trajectory.Submission         // the present plan
	asked                 int64   // when the job asked
	wanted                int64   // the deadline that it asked for
	forecast              float64 // the probability at the time of the promise
	// processor seconds held before the work, at most, at that time
	quoted                    float64
	submitted, started, ended bool         // what the job has done
	tasks                     []*sched.Job // of an array
	starts                    int          // tasks that have started
	moves                     int          // changes of the begin time
	worked, held              float64      // processor seconds of these
}

func newVarqd(s *Scenario) *varqd {
	v := &varqd{VARQ: s.Reservations.VARQ, Follower: follow.Follower{Request: s.Request}, kinds: make(map[trajectory.Kind]int), moves: make([]int, 1)}
	if v.Request == nil {
		v.Request = func(j *sched.Job) workload.Request {
			return workload.Request{Size: workload.Size{Nodes: j.Procs, CPUs: j.Procs}, Limit: j.Limit}
		}
	}
	v.forecaster = v.Method.newForecaster(&v.Queue, s.Background, rand.New(rand.NewPCG(s.Seed, 0x4652_4543)))
	v.Observer, v.planner.Forecaster, v.planner.MaxHold = v.forecaster, v.forecaster, v.MaxHold
	return v
}

// register tells the forecaster the present plan of p. holds says whether the present
// forecast still reaches the probability of p.
func (v *varqd) register(p *promise, holds bool) {
	q := forecast.Question{Request: p.All(), Now: p.Now, Submit: p.Begin, Job: p.ID, Tasks: p.Tasks}
	q.Limit = p.Limit
	v.forecaster.Promise(p.ID, &q, p.Deadline, holds)
}

// reserve asks for a reservation for j at its submission. If the request is refused, j
// joins the queue at once.
func (r *runner) reserve(j *sched.Job) {
	p := r.ask(j, 0)
	if p == nil {
		r.excluded[j] = &grant{}
		r.enqueue(j)
		return
	}
	v, now := r.varqd, j.Submit
	r.excluded[j] = &grant{promise: p}
	v.register(p, true)
	j.Estimate = 0 // the estimate leaves out the time held before the work
	r.await(j, p)
	if v.Replan > 0 {
		r.sim.Call(now+v.Replan, func(now int64) { r.replan(now, j, p) })
	}
}

// ask asks for a reservation for j, or for so many tasks like it, and returns the promise, or nil
// if it is refused.
func (r *runner) ask(j *sched.Job, tasks int32) *promise {
	v, now := r.varqd, j.Submit
	v.asked++
	request := trajectory.Request{Job: v.Request(j), Tasks: tasks, ID: j.ID, Now: now, Deadline: (now/v.Every + 1) * v.Every, Prob: v.Prob}
	if !v.BestEffort {
		request.HoldUntil = request.Deadline
	}
	decide := v.planner.Decide
	if v.TakeOffers {
		decide = v.planner.Plan // with offers
	}
	wanted := request.Deadline
	answer := decide(request)
	plan := answer.Plan
	switch {
	case plan != nil:
		r.weeks.at(wanted).Promised++
		v.prob += plan.Estimate.Prob
		request.Job = answer.Job
	case len(answer.Refusal.Offers) > 0:
		v.offered++
		offers := answer.Refusal.Offers
		for _, o := range offers {
			v.kinds[o.Kind]++
		}
		later := slices.IndexFunc(offers, func(o trajectory.Offer) bool {
			return o.Kind == trajectory.OfferLater && o.Request.Deadline <= wanted+MostLater
		})
		if later < 0 {
			r.refused(j, &request, &answer)
			return nil
		}
		request, plan = offers[later].Request, offers[later].Plan
		r.weeks.at(request.Deadline).Later++
	default:
		r.refused(j, &request, &answer)
		return nil
	}
	v.moves[0]++
	v.booked += float64(request.Job.Limit) * float64(j.Procs) * float64(max(1, tasks))
	if v.MaxCost > 0 {
		request.Earliest = request.Ceiling(plan.Begin, v.MaxCost)
	}
	return &promise{
		Request:    request,
		Submission: trajectory.Submission{Begin: plan.Begin, Limit: plan.Limit},
		asked:      now,
		wanted:     wanted,
		forecast:   plan.Estimate.Prob,
		quoted:     float64(max(0, request.HoldUntil-plan.Begin)) * float64(j.Procs) * float64(max(1, tasks)),
	}
}

// await submits j at the begin time of its present plan, unless that time changes before.
func (r *runner) await(j *sched.Job, p *promise) {
	begin := p.Begin
	r.sim.Call(begin, func(now int64) {
		if p.submitted || p.Begin != begin {
			return
		}
		p.submitted = true
		j.Submit, j.Limit = now, p.Limit
		r.integrate(now)
		r.enqueue(j)
	})
}

// moved counts a change of the begin time of a promised job.
func (v *varqd) moved(p *promise) {
	v.moves[p.moves]--
	p.moves++
	if p.moves == len(v.moves) {
		v.moves = append(v.moves, 0)
	}
	v.moves[p.moves]++
}

// replan plans a reservation anew, and calls itself again every Replan seconds until the
// job starts.
func (r *runner) replan(now int64, j *sched.Job, p *promise) {
	if p.started {
		return
	}
	p.Now = now
	before := p.Submission
	revised := r.varqd.planner.Replan(p.Request, before)
	p.Submission = revised.Submission
	if p.submitted {
		r.sim.Shorten(j, p.Limit)
	} else {
		r.varqd.register(p, revised.Prob >= p.Prob)
		if p.Begin != before.Begin {
			r.varqd.moved(p)
			r.await(j, p)
		}
	}
	r.sim.Call(now+r.varqd.Replan, func(now int64) { r.replan(now, j, p) })
}

// startPromised records the start of j, which has the promise p. The job holds its
// processors until its work may start. When the work starts, startPromised shortens the
// job's limit so that the work keeps no more than its own limit.
func (r *runner) startPromised(now int64, j *sched.Job, p *promise) {
	if p.tasks != nil {
		r.startTask(now, j, p)
		return
	}
	v := r.varqd
	p.started = true
	if now <= p.Deadline {
		week := r.weeks.at(p.Deadline)
		if p.Deadline == p.wanted {
			week.Kept++
		} else {
			week.LaterKept++
		}
	}
	hold := max(0, p.HoldUntil-now) // seconds
	work := min(j.Run, p.Job.Limit) // seconds
	o := Outcome{
		Job: j.ID, Asked: p.asked, Wanted: p.wanted, Deadline: p.Deadline, Prob: p.forecast, Begin: p.Begin, Start: now,
		Work: float64(work) * float64(j.Procs), Held: float64(hold) * float64(j.Procs), Quoted: p.quoted,
	}
	v.work += o.Work
	v.held += o.Held
	r.held += o.Held
	r.answered(o)
	j.Run = hold + work
	r.sim.Call(now+hold, func(int64) {
		if !p.ended {
			r.sim.Shorten(j, hold+p.Job.Limit)
		}
	})
}

// refused records why j gets no promise.
func (r *runner) refused(j *sched.Job, q *trajectory.Request, a *trajectory.Answer) {
	why := a.Refusal.Reason
	down := len(a.Trajectory) > 0 && a.Trajectory[0].Down == why
	if down {
		r.varqd.down++
		r.varqd.why = why
	}
	r.answered(Outcome{Job: j.ID, Asked: q.Now, Wanted: q.Deadline, Deadline: q.Deadline, Refusal: why, Down: down})
}

// answered calls Callbacks.Answered, if any.
func (r *runner) answered(o Outcome) {
	if r.callbacks.Answered != nil {
		r.callbacks.Answered(o)
	}
}

// result summarises what became of the requests. The weeks count the promises.
func (v *varqd) result(weeks weeks) *VARQResult {
	result := &VARQResult{
		Asked: v.asked, Down: v.down, Why: v.why, Moves: v.moves,
		Work: v.work, Held: v.held, Booked: v.booked,
	}
	if v.TakeOffers {
		result.Offers = &OffersResult{Offered: v.offered, Kinds: v.kinds}
	}
	result.conclude(weeks, v.prob)
	return result
}
