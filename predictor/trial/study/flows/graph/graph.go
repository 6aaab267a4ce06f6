// Package graph simulates a cluster on which users submit flows: jobs of which some wait for
// others. When a flow is submitted, it is forecast when all its jobs will have ended.
//
// The cluster is one pool of processors, first come, first served, with EASY backfilling by the
// users' limits. A job that waits for others has its place in the queue from when these have ended.
// Equal arguments give equal results.
package graph

import (
	"math"
	"math/rand/v2"

	"github.com/varq-project/varq/predictor/cluster/sched"
	"github.com/varq-project/varq/predictor/cluster/sim"
	"github.com/varq-project/varq/predictor/workload"
)

// Experiment is a cluster with its flows.
type Experiment struct {
	Procs int32
	Flows []Flow
	// Request returns what a job asks for.
	Request func(*sched.Job) workload.Request
	// Seed is that of the forecasts.
	Seed uint64
	// Background is predictor.Options.Background.
	Background func(task func())
}

// Flow is jobs of which some wait for others.
type Flow struct {
	Begin int64 // when its jobs are submitted
	Jobs  []sched.Job
	// After has for each job those before it that have to end before it becomes eligible.
	After [][]int
	// Within is in how many seconds its user wants all to have ended.
	Within int64
}

// Longest returns the sum along the path of jobs, each after another, of which the sum is longest.
func (f *Flow) Longest(of func(i int) float64) (longest float64) {
	sums := make([]float64, len(f.Jobs))
	for i := range f.Jobs {
		for _, k := range f.After[i] {
			sums[i] = max(sums[i], sums[k])
		}
		sums[i] += of(i)
		longest = max(longest, sums[i])
	}
	return longest
}

// Method is a way to forecast when all jobs of a flow have ended.
type Method uint8

// The methods.
const (
	Told    Method = iota // Courses, corrected by how often starts came true by them
	Courses               // the courses of all jobs together, as package flow draws them
	Sum                   // the longest path of quantiles of single jobs
	Methods
)

// Levels are the probabilities of the quantiles.
var Levels = [...]float64{.5, .75, .9, .95}

// Outcome is what became of a flow that was forecast. Times are seconds after its Begin.
type Outcome struct {
	Flow      int // which
	Took      float64
	Quantiles [Methods][len(Levels)]float64 // of Took, infinite where nothing is forecast
	// Prob is the probability, as it is Told, that the flow ends Within.
	Prob float64
}

// Run simulates jobs, which must be in the order of their submission, and the flows. It does not
// keep the jobs.
func (e *Experiment) Run(jobs []sched.Job) []Outcome {
	r := &run{Experiment: e, jobs: map[*sched.Job]*job{}}
	r.sim = sim.New(sched.Config{Procs: e.Procs, Order: sched.FCFS(), Backfill: sched.EASY}, r)
	r.varqd = newVarqd(e)
	for i := range jobs {
		r.id = max(r.id, jobs[i].ID)
	}
	r.sim.Reset(jobs[0].Submit)
	for i := range e.Flows {
		r.sim.Call(e.Flows[i].Begin, func(now int64) { r.begin(now, i) })
	}
	for i := range jobs {
		j := jobs[i]
		r.sim.Advance(j.Submit)
		r.enqueue(&j)
	}
	r.sim.Drain()
	return r.outcomes
}

// run is the state of Experiment.Run. It observes its simulator.
type run struct {
	*Experiment
	sim      *sim.Simulator
	varqd    *varqd
	jobs     map[*sched.Job]*job // of flows, that have not ended
	id       int64               // the highest one that a job has
	outcomes []Outcome
}

// job is a job of a flow.
type job struct {
	sched.Job
	flow  *open
	ahead int    // how many of those that it waits for have not ended
	then  []*job // those that wait for it
}

// open is a flow that has not ended.
type open struct {
	Outcome
	begin    int64
	left     int // jobs
	forecast bool
}

// begin submits a flow now.
func (r *run) begin(now int64, i int) {
	f := &r.Flows[i]
	all := &open{Outcome: Outcome{Flow: i}, begin: now, left: len(f.Jobs)}
	jobs := make([]*job, len(f.Jobs))
	for k := range f.Jobs {
		r.id++
		j := &job{Job: f.Jobs[k], flow: all, ahead: len(f.After[k])}
		j.ID, j.Submit = r.id, now
		for _, before := range f.After[k] {
			jobs[before].then = append(jobs[before].then, j)
		}
		r.jobs[&j.Job], jobs[k] = j, j
	}
	all.forecast = r.varqd.forecast(now, f, jobs, &all.Outcome)
	for _, j := range jobs {
		if j.ahead == 0 {
			r.enqueue(&j.Job)
		}
	}
}

// enqueue puts j into the queue now.
func (r *run) enqueue(j *sched.Job) {
	r.sim.Submit(j)
	r.varqd.Submitted(j)
}

// Reserved implements sim.Observer.
func (*run) Reserved(int64, *sched.Job, int64, int64) {}

// Stopped implements sim.Observer.
func (*run) Stopped(int64, *sched.Job) {}

// Started implements sim.Observer.
func (r *run) Started(now int64, j *sched.Job) {
	r.varqd.Started(j, 0)
	r.varqd.learn(now, j)
}

// Ended implements sim.Observer.
func (r *run) Ended(now int64, j *sched.Job) {
	r.varqd.Ended(j)
	is := r.jobs[j]
	if is == nil {
		return
	}
	delete(r.jobs, j)
	for _, next := range is.then {
		if next.ahead--; next.ahead == 0 {
			next.Submit = now
			r.sim.Call(now, func(int64) { r.enqueue(&next.Job) })
		}
	}
	if is.flow.left--; is.flow.left == 0 && is.flow.forecast {
		is.flow.Took = float64(now - is.flow.begin)
		r.outcomes = append(r.outcomes, is.flow.Outcome)
	}
}

// seconds returns how long after now a time is.
func seconds(at, now int64) float64 {
	if at == sched.Never {
		return math.Inf(1)
	}
	return float64(at - now)
}

// chance returns random numbers of the experiment.
func (e *Experiment) chance(stream uint64) *rand.Rand { return rand.New(rand.NewPCG(e.Seed, stream)) }
