// Package chain simulates a cluster on which some work takes longer than a job may. It is a chain
// of jobs, its links. Each link runs until its time limit, and the next one goes on from its last
// checkpoint. A Way says when the next one is submitted. If that starts after the end of the one
// before it, there is a gap between them. If it starts sooner, its processors idle until then.
//
// The cluster is one pool of processors, first come, first served, with EASY backfilling by the
// users' limits. Equal arguments give equal results.
package chain

import (
	"github.com/varq-project/varq/predictor/cluster/sched"
	"github.com/varq-project/varq/predictor/cluster/sim"
	"github.com/varq-project/varq/predictor/workload"
)

// Experiment is a cluster with its chains.
type Experiment struct {
	Procs  int32
	Chains []Chain
	// Request returns what a job asks for.
	Request func(*sched.Job) workload.Request
	// Seed is that of the forecasts of Promised.
	Seed uint64
	// Background is predictor.Options.Background.
	Background func(task func())
}

// Chain is work that takes as long as some jobs may, one after the other.
type Chain struct {
	Begin int64 // when its first link is submitted
	Links int
	// Link is what each link asks for. Each works until its Limit.
	Link sched.Job
}

// Way is a way to submit the next link of a chain.
type Way uint8

// The ways.
const (
	// AtEnd submits a link when the one before it ends.
	AtEnd Way = iota
	// AfterAny submits a link when the work of the one before it begins, to be eligible when that
	// one ends. The link has its place in the queue by its submission, as in a Slurm whose
	// PriorityFlags have ACCRUE_ALWAYS.
	AfterAny
	// Independent submits a link when the work of the one before it begins, to start as soon as
	// it can.
	Independent
	// MeanWait submits a link before the one before it ends, by the mean of the last waits of jobs of
	// like size.
	MeanWait
	// Promised asks for a start by the end of the one before it when the work of that begins, as
	// varq chain does, and is AtEnd if that is refused. What a link idles is not taken off its work.
	Promised
)

// Pair is two links of a chain, one after the other.
type Pair struct {
	// Gap is for how many seconds neither works. Idle is for how many seconds the processors of the
	// later one idle until the one before it ends.
	Gap, Idle int64
	// Prob is the probability with which a start without a gap was promised; 0 without a promise.
	Prob float64
}

// Result is what became of the chains, and of the other jobs.
type Result struct {
	Pairs []Pair // of which the former link ended before the last job was submitted
	// Work is the work of the chains, and Idle is for how long their processors idled before it,
	// both in processor seconds.
	Work, Idle float64
	// Others counts the other jobs that were submitted after the first chain began, and Wait is
	// the sum of their waits in seconds.
	Others int
	Wait   float64
	// Machine is what all processors can do from the first submission of a job to the last, Taken the
	// part of it that jobs took, and Chains the part that links took, all in processor seconds.
	Machine, Taken, Chains float64
}

// Run simulates jobs, which must be in the order of their submission, and the chains. It does not
// keep the jobs.
func (e *Experiment) Run(jobs []sched.Job, way Way) Result { return newRun(e, way).replay(jobs) }

// newRun returns a run that has no job yet.
func newRun(e *Experiment, way Way) *run {
	r := &run{Experiment: e, way: way, links: make(map[*sched.Job]*link), waits: make(waits), from: sched.Never}
	r.sim = sim.New(sched.Config{Procs: e.Procs, Order: sched.FCFS(), Backfill: sched.EASY}, r)
	if way == Promised {
		r.varqd = newVarqd(e)
	}
	return r
}

// replay is Experiment.Run.
func (r *run) replay(jobs []sched.Job) Result {
	for i := range jobs {
		r.id = max(r.id, jobs[i].ID)
	}
	r.last = jobs[len(jobs)-1].Submit
	r.sim.Reset(jobs[0].Submit)
	for i := range r.Chains {
		c := &r.Chains[i]
		r.from = min(r.from, c.Begin)
		r.submit(r.link(c, nil), c.Begin)
	}
	for i := range jobs {
		j := jobs[i]
		r.sim.Advance(j.Submit)
		r.enqueue(&j)
	}
	r.sim.Drain()
	r.result.Machine = float64(r.Procs) * float64(r.last-jobs[0].Submit)
	return r.result
}

// run is the state of Experiment.Run. It observes its simulator.
type run struct {
	*Experiment
	way    Way
	sim    *sim.Simulator
	varqd  *varqd               // nil but for Promised
	links  map[*sched.Job]*link // that have not ended
	waits  waits
	id     int64 // the highest one that a job has
	from   int64 // when the first chain begins
	last   int64 // when the last job is submitted
	result Result
}

// link is a job of a chain.
type link struct {
	*Chain
	number  int // 0 is that of the first
	job     sched.Job
	before  *link    // nil for the first
	end     int64    // of its time limit; known when its work begins
	promise *promise // nil without
}

// link returns the link of a chain that comes after another one, or the first.
func (r *run) link(c *Chain, before *link) *link {
	l := &link{Chain: c, job: c.Link, before: before}
	r.id++
	l.job.ID, l.job.Run = r.id, c.Link.Limit
	if before != nil {
		l.number = before.number + 1
	}
	r.links[&l.job] = l
	return l
}

// submit submits a link at a time.
func (r *run) submit(l *link, at int64) {
	l.job.Submit = at
	r.sim.Call(at, func(int64) { r.enqueue(&l.job) })
}

// enqueue puts j into the queue now.
func (r *run) enqueue(j *sched.Job) {
	r.sim.Submit(j)
	if r.varqd != nil {
		r.varqd.Submitted(j)
	}
}

// next submits the link after l, whose work begins.
func (r *run) next(now int64, l *link) {
	next := r.link(l.Chain, l)
	switch r.way {
	case AfterAny:
		next.job.Submit = now
		r.sim.Call(l.end, func(int64) { r.enqueue(&next.job) })
	case Independent:
		r.submit(next, now)
	case MeanWait:
		r.submit(next, max(now, l.end-r.waits.mean(l.Link.Procs)))
	case Promised:
		if r.reserve(now, next) {
			return
		}
		fallthrough
	default:
		r.submit(next, l.end)
	}
}

// work begins the work of l, whose processors have idled for some seconds.
func (r *run) work(now int64, l *link, idle int64) {
	l.end = l.job.Start + l.Link.Limit
	if l.promise != nil {
		l.end = now + l.Link.Limit
		r.sim.Shorten(&l.job, idle+l.Link.Limit)
	}
	procs := float64(l.Link.Procs)
	r.result.Work += float64(l.end-now) * procs
	r.result.Idle += float64(idle) * procs
	if l.before != nil {
		pair := Pair{Gap: now - l.before.end, Idle: idle}
		if l.promise != nil {
			pair.Prob = l.promise.Prob
		}
		r.result.Pairs = append(r.result.Pairs, pair)
		l.before = nil
	}
	if l.number+1 < l.Links && l.end <= r.last {
		r.next(now, l)
	}
}

// Reserved implements sim.Observer.
func (*run) Reserved(int64, *sched.Job, int64, int64) {}

// Stopped implements sim.Observer.
func (*run) Stopped(int64, *sched.Job) {}

// Started implements sim.Observer.
func (r *run) Started(now int64, j *sched.Job) {
	wait := now - j.Submit
	r.waits.add(j.Procs, wait)
	if r.varqd != nil {
		r.varqd.Started(j, 0)
	}
	l := r.links[j]
	if l == nil {
		if j.Submit >= r.from {
			r.result.Others++
			r.result.Wait += float64(wait)
		}
		return
	}
	from := now
	if l.before != nil {
		from = max(now, l.before.end)
	}
	idle := from - now
	if l.promise != nil {
		l.promise.started = true
		j.Run = idle + l.Link.Limit
	}
	r.sim.Call(from, func(now int64) { r.work(now, l, idle) })
}

// Ended implements sim.Observer.
func (r *run) Ended(_ int64, j *sched.Job) {
	taken := float64(j.Procs) * float64(max(0, min(j.End, r.last)-j.Start))
	r.result.Taken += taken
	if r.links[j] != nil {
		r.result.Chains += taken
		delete(r.links, j)
	}
	if r.varqd != nil {
		r.varqd.Ended(j)
	}
}
