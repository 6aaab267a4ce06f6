package scenario

import (
	"math/rand/v2"

	"github.com/varq-project/varq/predictor/cluster/queue"
	"github.com/varq-project/varq/predictor/cluster/sched"
	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/promise/trajectory"
	"github.com/varq-project/varq/predictor/stats"
	"github.com/varq-project/varq/predictor/workload"
)

// varqd does what the daemon of that name does on a live cluster: it follows the queue,
// lets the forecaster learn, and plans reservations.
type varqd struct {
	*VARQ
	request    func(*sched.Job) workload.Request
	queue      queue.Queue
	forecaster forecaster
	planner    trajectory.Planner

	asked, promised, kept, moves int
	down                         int     // refusals because the cluster seemed to be down
	why                          string  // the reason of the last of them
	prob                         float64 // sum of the forecasts of promises
	work, held                   float64 // processor seconds of jobs with promises
}

// promise is a reservation that was granted.
type promise struct {
	trajectory.Request
	trajectory.Submission     // the present plan
	asked                     int64
	forecast                  float64 // at the time of the promise
	submitted, started, ended bool    // the job
}

func newVarqd(s *Scenario) *varqd {
	v := &varqd{VARQ: s.Reservations.VARQ, request: s.Request}
	if v.request == nil {
		v.request = func(j *sched.Job) workload.Request {
			return workload.Request{Size: workload.Size{Nodes: j.Procs, CPUs: j.Procs}, Limit: j.Limit}
		}
	}
	v.forecaster = v.Method.forecaster(&v.queue, s.Background, rand.New(rand.NewPCG(s.Seed, 0x4652_4543)))
	v.planner.Forecaster, v.planner.MaxHold = v.forecaster, v.MaxHold
	return v
}

// job returns j, at its submission, as forecasters see it.
func (v *varqd) job(j *sched.Job) workload.Job {
	return workload.Job{ID: j.ID, Request: v.request(j), Submit: j.Submit, Eligible: j.Submit}
}

// submitted observes that j joins the queue.
func (v *varqd) submitted(j *sched.Job) {
	job := v.job(j)
	v.queue.Submit(job)
	v.forecaster.Submitted(&job)
}

// started observes that j starts.
func (v *varqd) started(j *sched.Job) {
	job := v.job(j)
	job.Start = j.Start
	v.queue.Start(job)
	v.forecaster.Started(&job)
}

// ended observes that j has ended.
func (v *varqd) ended(j *sched.Job) {
	job := v.job(j)
	job.Start, job.End = j.Start, j.End
	v.queue.Remove(job.ID)
	v.forecaster.Ended(&job)
}

// register lets the forecaster know of p as it is planned now, and whether it holds by
// the present forecast.
func (v *varqd) register(j *sched.Job, p *promise, holds bool) {
	q := forecast.Question{Request: p.Job, Now: p.Now, Submit: p.Begin}
	q.Limit = p.Limit
	v.forecaster.Promise(j.ID, &q, p.Deadline, holds)
}

// reserve asks for a reservation for j, which arrives now. A job that is refused joins
// the queue at once.
func (r *run) reserve(j *sched.Job) {
	v, now := r.varq, j.Submit
	v.asked++
	request := trajectory.Request{Job: v.request(j), Now: now, Deadline: (now/v.Every + 1) * v.Every, Prob: v.Prob}
	if !v.BestEffort {
		request.HoldUntil = request.Deadline
	}
	answer := v.planner.Decide(request)
	if answer.Plan == nil {
		r.refused(j, &request, &answer)
		r.special[j] = &grant{}
		r.enqueue(j)
		return
	}
	v.promised++
	v.prob += answer.Plan.Estimate.Prob
	request.Job = answer.Job
	p := &promise{
		Request:    request,
		Submission: trajectory.Submission{Begin: answer.Plan.Begin, Limit: answer.Plan.Limit},
		asked:      now,
		forecast:   answer.Plan.Estimate.Prob,
	}
	r.special[j] = &grant{promise: p}
	v.register(j, p, true)
	j.Estimate = 0 // it leaves out the time held before the work
	r.await(j, p)
	if v.Replan > 0 {
		r.sim.Call(now+v.Replan, func(now int64) { r.replan(now, j, p) })
	}
}

// await submits j at the begin time of its present plan, unless the plan is changed
// before.
func (r *run) await(j *sched.Job, p *promise) {
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

// replan plans a reservation anew, now and at intervals until its job starts.
func (r *run) replan(now int64, j *sched.Job, p *promise) {
	if p.started {
		return
	}
	p.Now = now
	before := p.Submission
	revised := r.varq.planner.Replan(p.Request, before)
	p.Submission = revised.Submission
	if p.submitted {
		r.sim.Shorten(j, p.Limit)
	} else {
		r.varq.register(j, p, revised.Prob >= p.Prob)
		if p.Begin != before.Begin {
			r.varq.moves++
			r.await(j, p)
		}
	}
	r.sim.Call(now+r.varq.Replan, func(now int64) { r.replan(now, j, p) })
}

// deliver lets j, which starts now, hold its processors until its work may start. When
// the work starts, the limit is trimmed to the work's own.
func (r *run) deliver(now int64, j *sched.Job, p *promise) {
	v := r.varq
	p.started = true
	if now <= p.Deadline {
		v.kept++
	}
	held := max(0, p.HoldUntil-now)
	run := min(j.Run, p.Job.Limit)
	a := Reservation{
		Job: j.ID, Asked: p.asked, Deadline: p.Deadline, Prob: p.forecast, Begin: p.Begin, Start: now,
		Work: float64(run) * float64(j.Procs), Held: float64(held) * float64(j.Procs),
	}
	v.work += a.Work
	v.held += a.Held
	r.held += a.Held
	r.answered(a)
	j.Run = held + run
	r.sim.Call(now+held, func(int64) {
		if !p.ended {
			r.sim.Shorten(j, held+p.Job.Limit)
		}
	})
}

// refused records why j gets no promise.
func (r *run) refused(j *sched.Job, q *trajectory.Request, a *trajectory.Answer) {
	why := a.Refusal.Reason
	down := len(a.Trajectory) > 0 && a.Trajectory[0].Down == why
	if down {
		r.varq.down++
		r.varq.why = why
	}
	r.answered(Reservation{Job: j.ID, Asked: q.Now, Deadline: q.Deadline, Refusal: why, Down: down})
}

// answered calls back the watch.
func (r *run) answered(a Reservation) {
	if r.watch.Answered != nil {
		r.watch.Answered(a)
	}
}

func (v *varqd) result() *VARQResult {
	result := &VARQResult{Asked: v.asked, Promised: v.promised, Kept: v.kept, KeptHigh: 1, Down: v.down, Why: v.why, Moves: v.moves}
	if v.promised > 0 {
		result.Prob = v.prob / float64(v.promised)
		result.KeptLow, result.KeptHigh = stats.ProportionInterval(v.kept, v.promised, .95)
	}
	if v.work > 0 {
		result.Overhead = v.held / v.work
	}
	return result
}
