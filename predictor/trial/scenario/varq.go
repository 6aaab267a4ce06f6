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

// virtual plans VARQ's reservations, as varqd does.
type virtual struct {
	*VARQ
	request func(*sched.Job) workload.Request
	queue   queue.Queue
	oracle  oracle
	planner trajectory.Planner

	asked, promised, kept, moves int
	down                         int     // refused because nobody could be promised anything
	why                          string  // the last of those
	prob                         float64 // sum of those promised
	work, overhead               float64 // processor seconds, of jobs that hold promises
}

// promise is a VARQ reservation that was granted.
type promise struct {
	trajectory.Request
	trajectory.Submission
	asked                     int64
	promised                  float64
	submitted, started, ended bool
}

func newVirtual(s *Scenario) *virtual {
	v := &virtual{VARQ: s.Reservations.VARQ, request: s.Request}
	if v.request == nil {
		v.request = func(j *sched.Job) workload.Request {
			return workload.Request{Size: workload.Size{Nodes: j.Procs, CPUs: j.Procs}, Limit: j.Limit}
		}
	}
	v.oracle = v.Forecaster.oracle(&v.queue, rand.New(rand.NewPCG(s.Seed, 0x4652_4543)))
	v.planner.Forecaster, v.planner.MaxHold = v.oracle, v.MaxHold
	return v
}

// job is j as forecasters know it, but for its times after the submission.
func (v *virtual) job(j *sched.Job) workload.Job {
	return workload.Job{ID: j.ID, Request: v.request(j), Submit: j.Submit, Eligible: j.Submit}
}

// submitted takes in that j waits from now on.
func (v *virtual) submitted(j *sched.Job) {
	job := v.job(j)
	v.queue.Submit(job)
	v.oracle.Submitted(&job)
}

// started takes in that j starts.
func (v *virtual) started(j *sched.Job) {
	job := v.job(j)
	job.Start = j.Start
	v.queue.Start(job)
	v.oracle.Started(&job)
}

// ended takes in that j has ended.
func (v *virtual) ended(j *sched.Job) {
	job := v.job(j)
	job.Start, job.End = j.Start, j.End
	v.queue.Remove(job.ID)
	v.oracle.Ended(&job)
}

// promise lets the oracle know what p rests on, now, and whether it still holds.
func (v *virtual) promise(j *sched.Job, p *promise, holds bool) {
	q := forecast.Question{Request: p.Job, Now: p.Now, Submit: p.Begin}
	q.Limit = p.Limit
	v.oracle.Promise(j.ID, &q, p.Deadline, holds)
}

// reserve asks for a reservation for j, which is submitted now. A refused job
// joins the queue like any other.
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
		r.chosen[j] = &reservation{}
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
		promised:   answer.Plan.Estimate.Prob,
	}
	r.chosen[j] = &reservation{promise: p}
	v.promise(j, p, true)
	j.Estimate = 0 // which knows nothing of the time that the job will hold
	r.await(j, p)
	if v.Replan > 0 {
		r.sim.Call(now+v.Replan, func(now int64) { r.replan(now, j, p) })
	}
}

// await submits a pending reservation when its time has come.
func (r *run) await(j *sched.Job, p *promise) {
	begin := p.Begin
	r.sim.Call(begin, func(now int64) {
		if p.submitted || p.Begin != begin {
			return
		}
		p.submitted = true
		j.Submit, j.Limit = now, p.Limit
		r.gather(now)
		r.enqueue(j)
	})
}

// replan looks at a reservation again until its job starts.
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
		r.varq.promise(j, p, revised.Prob >= p.Prob)
		if p.Begin != before.Begin {
			r.varq.moves++
			r.await(j, p)
		}
	}
	r.sim.Call(now+r.varq.Replan, func(now int64) { r.replan(now, j, p) })
}

// deliver sees to it that a job which starts now holds its processors until its
// work may start. Then its limit is trimmed to the work's.
func (r *run) deliver(now int64, j *sched.Job, p *promise) {
	v := r.varq
	p.started = true
	if now <= p.Deadline {
		v.kept++
	}
	held := max(0, p.HoldUntil-now)
	run := min(j.Run, p.Job.Limit)
	a := Reservation{
		Job: j.ID, Asked: p.asked, Deadline: p.Deadline, Prob: p.promised, Begin: p.Begin, Start: now,
		Work: float64(run) * float64(j.Procs), Held: float64(held) * float64(j.Procs),
	}
	v.work += a.Work
	v.overhead += a.Held
	r.held += a.Held
	r.answered(a)
	j.Run = held + run
	r.sim.Call(now+held, func(int64) {
		if !p.ended {
			r.sim.Shorten(j, held+p.Job.Limit)
		}
	})
}

// refused takes down why j gets no promise.
func (r *run) refused(j *sched.Job, q *trajectory.Request, a *trajectory.Answer) {
	why := a.Refusal.Reason
	down := len(a.Trajectory) > 0 && a.Trajectory[0].Down == why
	if down {
		r.varq.down++
		r.varq.why = why
	}
	r.answered(Reservation{Job: j.ID, Asked: q.Now, Deadline: q.Deadline, Refusal: why, Down: down})
}

// answered tells who watches.
func (r *run) answered(a Reservation) {
	if r.watch.Answered != nil {
		r.watch.Answered(a)
	}
}

func (v *virtual) result() *VARQResult {
	result := &VARQResult{Asked: v.asked, Promised: v.promised, Kept: v.kept, KeptHigh: 1, Down: v.down, Why: v.why, Moves: v.moves}
	if v.promised > 0 {
		result.Prob = v.prob / float64(v.promised)
		result.KeptLow, result.KeptHigh = stats.ProportionInterval(v.kept, v.promised, .95)
	}
	if v.work > 0 {
		result.Overhead = v.overhead / v.work
	}
	return result
}
