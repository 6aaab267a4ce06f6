package chain

import (
	"math/rand/v2"

	"github.com/varq-project/varq/predictor/cluster/sched"
	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/forecast/predictor"
	"github.com/varq-project/varq/predictor/promise/trajectory"
	"github.com/varq-project/varq/predictor/trial/follow"
)

// Ladder has the probabilities that Promised asks for, one after the other, until one is promised:
// those of varq chain.
var Ladder = [...]float64{.9, .75, .5, .25}

// replanEvery is the interval, in seconds, at which a promise is planned anew.
const replanEvery = 600

// varqd does in a simulation what the daemon varqd does on a live cluster.
type varqd struct {
	follow.Follower
	forecaster predictor.Trajectory
	planner    trajectory.Planner
}

func newVarqd(e *Experiment) *varqd {
	v := &varqd{Follower: follow.Follower{Request: e.Request}}
	random := rand.New(rand.NewPCG(e.Seed, 0x6368_6169))
	v.forecaster = predictor.Trajectory{Predictor: predictor.Standard(&v.Queue, predictor.Options{Background: e.Background}, random)}
	v.Observer = v.forecaster
	v.planner = trajectory.Planner{Forecaster: v.forecaster, MaxHold: trajectory.DefaultMaxHold}
	return v
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
		request := trajectory.Request{Job: v.Request(j), ID: j.ID, Now: now, Deadline: deadline, HoldUntil: deadline, Prob: prob}
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
