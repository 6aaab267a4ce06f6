package chain

import (
	"math/rand/v2"

	"github.com/varq-project/varq/predictor/cluster/queue"
	"github.com/varq-project/varq/predictor/cluster/sched"
	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/forecast/predictor"
	"github.com/varq-project/varq/predictor/promise/trajectory"
	"github.com/varq-project/varq/predictor/workload"
)

// Ladder has the probabilities that Promised asks for, one after the other, until one is promised:
// those of varq chain.
var Ladder = [...]float64{.9, .75, .5, .25}

// replanEvery is the interval, in seconds, at which a promise is planned anew.
const replanEvery = 600

// varqd does in a simulation what the daemon varqd does on a live cluster.
type varqd struct {
	request    func(*sched.Job) workload.Request
	queue      queue.Queue
	forecaster predictor.Trajectory
	planner    trajectory.Planner
}

func newVarqd(e *Experiment) *varqd {
	v := &varqd{request: e.Request}
	random := rand.New(rand.NewPCG(e.Seed, 0x6368_6169))
	v.forecaster = predictor.Trajectory{Predictor: predictor.Standard(&v.queue, predictor.Options{Background: e.Background}, random)}
	v.planner = trajectory.Planner{Forecaster: v.forecaster, MaxHold: trajectory.DefaultMaxHold}
	return v
}

// job returns j in the form that forecasters take, with neither start nor end.
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

// register tells the forecaster the present plan of p. holds says whether the present forecast
// still reaches the probability of p.
func (v *varqd) register(p *promise, holds bool) {
	q := forecast.Question{Request: p.Job, Now: p.Now, Submit: p.Begin, Job: p.ID}
	q.Limit = p.Limit
	v.forecaster.Promise(p.ID, &q, p.Deadline, holds)
}

// promise is a reservation that was granted.
type promise struct {
	trajectory.Request
	trajectory.Submission      // the present plan
	submitted, started    bool // what the link has done
}

// promise returns what is promised to j, to start by a deadline and to work from then on, or nil.
func (v *varqd) promise(now int64, j *sched.Job, deadline int64) *promise {
	for _, prob := range Ladder {
		request := trajectory.Request{Job: v.request(j), ID: j.ID, Now: now, Deadline: deadline, HoldUntil: deadline, Prob: prob}
		if a := v.planner.Decide(request); a.Plan != nil {
			request.Job = a.Job
			request.Earliest = request.Ceiling(a.Plan.Begin, 1)
			return &promise{Request: request, Submission: trajectory.Submission{Begin: a.Plan.Begin, Limit: a.Plan.Limit}}
		}
	}
	return nil
}

// reserve asks for a reservation for l, to work without a gap. It returns false if that is refused.
func (r *run) reserve(now int64, l *link) bool {
	p := r.varqd.promise(now, &l.job, l.before.end)
	if p == nil {
		return false
	}
	l.promise = p
	r.varqd.register(p, true)
	r.await(l)
	r.sim.Call(now+replanEvery, func(now int64) { r.replan(now, l) })
	return true
}

// await submits l at the begin time of its present plan, unless that time changes before.
func (r *run) await(l *link) {
	p, begin := l.promise, l.promise.Begin
	r.sim.Call(begin, func(now int64) {
		if p.submitted || p.Begin != begin {
			return
		}
		p.submitted = true
		l.job.Submit, l.job.Limit = now, p.Limit
		r.enqueue(&l.job)
	})
}

// replan plans the reservation of l anew, and calls itself again until the link starts.
func (r *run) replan(now int64, l *link) {
	p := l.promise
	if p.started {
		return
	}
	p.Now = now
	before := p.Submission
	revised := r.varqd.planner.Replan(p.Request, before)
	p.Submission = revised.Submission
	if p.submitted {
		r.sim.Shorten(&l.job, p.Limit)
	} else {
		r.varqd.register(p, revised.Prob >= p.Prob)
		if p.Begin != before.Begin {
			r.await(l)
		}
	}
	r.sim.Call(now+replanEvery, func(now int64) { r.replan(now, l) })
}
