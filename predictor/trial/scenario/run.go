package scenario

import (
	"math/rand/v2"
	"slices"

	"github.com/varq-project/varq/predictor/cluster/sched"
	"github.com/varq-project/varq/predictor/cluster/sim"
)

// runner simulates a scenario. It observes its simulator.
type runner struct {
	*Scenario
	callbacks Callbacks
	sim       *sim.Simulator
	random    *rand.Rand
	spare     []*sched.Job // jobs that have ended, for newJob
	varqd     *varqd       // nil without VARQ's reservations
	outages   outages

	// excluded has the jobs that Result.Others leaves out, from their submission to
	// their end, and what each of them got.
	excluded map[*sched.Job]*grant

	jobs             int
	first, last, end int64
	running          int32 // processors
	queued           int   // jobs
	now              int64 // busy and series are integrated up to this time
	// processor seconds of running jobs, up to now and up to the last submission
	busy, busyToLast float64
	held, lost       float64 // processor seconds
	stops            int
	weeks            weeks
	others           waits   // of the jobs that are not excluded
	unreserved       waits   // of the excluded jobs without a reservation
	exact            int     // jobs with hard reservations that got the time asked for
	offsets          []int64 // of hard reservations, in seconds
	series           *series
}

// grant is the reservation that a job got. The zero grant is none: the request was
// refused, or the job did not ask.
type grant struct {
	hard    bool
	promise *promise // VARQ's
}

func newRunner(s *Scenario, callbacks Callbacks) *runner {
	r := &runner{
		Scenario:  s,
		callbacks: callbacks,
		random:    rand.New(rand.NewPCG(s.Seed, 0x5641_5251)),
		excluded:  make(map[*sched.Job]*grant),
	}
	config := sched.Config{Procs: s.Procs, Order: s.Order, Backfill: s.Backfill}
	if hard := s.Reservations.Hard; hard != nil {
		config.Protected, config.Restart = hard.Protected, hard.Restart
	}
	r.sim = sim.New(config, r)
	if s.Reservations.VARQ != nil {
		r.varqd = newVarqd(s)
	}
	return r
}

// submit advances the simulation to the submission of the workload's next job, and
// submits the job or reserves for it.
func (r *runner) submit(job *sched.Job) {
	j := r.arrive(job)
	// u decides whether the job asks for a reservation, and v how far ahead. Both are
	// drawn for every job, even if unused, so that the draws for a job do not depend on
	// the policy or on the share.
	u, v := r.random.Float64(), r.random.Float64()
	hard, varq := r.Reservations.Hard, r.Reservations.VARQ
	switch {
	case hard != nil && u < hard.Share:
		r.excluded[j] = &grant{hard: true}
		r.sim.Reserve(j, j.Submit+int64(v*float64(hard.Ahead)))
	case varq != nil && u < varq.Share:
		r.reserve(j)
	case u < r.Aside:
		r.excluded[j] = &grant{}
		r.enqueue(j)
	default:
		r.enqueue(j)
	}
}

// arrive advances the simulation to the submission of a job, and returns the job as the simulation
// has it.
func (r *runner) arrive(job *sched.Job) *sched.Job {
	if r.series == nil {
		r.sim.Advance(job.Submit)
		r.series = newSeries(job.Submit)
		r.first, r.now, r.end = job.Submit, job.Submit, job.Submit
		r.outages = newOutages(r.Outage, job.Submit)
	}
	r.scheduleOutages(job.Submit)
	r.jobs++
	r.last = job.Submit
	j := r.newJob()
	*j = *job
	r.sim.Advance(j.Submit)
	r.integrate(j.Submit)
	r.busyToLast = r.busy
	if r.Estimator != nil {
		if seconds, ok := r.Estimator.Estimate(j); ok {
			j.Estimate = max(1, min(seconds, j.Limit))
		}
	}
	return j
}

// enqueue puts j into the queue now.
func (r *runner) enqueue(j *sched.Job) {
	r.queued++
	r.sim.Submit(j)
	if r.varqd != nil {
		r.varqd.Submitted(j)
	}
}

// newJob returns a job that the caller must overwrite. It reuses a job that has ended, if
// there is one.
func (r *runner) newJob() *sched.Job {
	last := len(r.spare) - 1
	if last < 0 {
		return new(sched.Job)
	}
	j := r.spare[last]
	r.spare = r.spare[:last]
	return j
}

// integrate extends busy and series from r.now to now. Invariant: since r.now, neither
// r.running nor r.queued has changed.
func (r *runner) integrate(now int64) {
	if now == r.now {
		return
	}
	r.busy += float64(r.running) * float64(now-r.now)
	r.now = now
	r.series.add(now, r.queued, r.running)
}

// Reserved implements sim.Observer.
func (r *runner) Reserved(_ int64, _ *sched.Job, at, start int64) {
	offset := max(at-start, start-at)
	r.offsets = append(r.offsets, offset)
	if offset == 0 {
		r.exact++
	}
}

// Started implements sim.Observer.
func (r *runner) Started(now int64, j *sched.Job) {
	r.integrate(now)
	r.running += j.Procs
	c := r.excluded[j]
	if c == nil || !c.hard {
		r.queued--
	}
	promised := c != nil && c.promise != nil
	if r.varqd != nil {
		array := int64(0)
		if promised && c.promise.tasks != nil {
			array = c.promise.ID
		}
		r.varqd.Started(j, array)
	}
	if promised {
		r.startPromised(now, j, c.promise)
	}
}

// Stopped implements sim.Observer.
func (r *runner) Stopped(now int64, j *sched.Job) {
	r.integrate(now)
	r.running -= j.Procs
	r.queued++
	r.stops++
}

// Ended implements sim.Observer.
func (r *runner) Ended(now int64, j *sched.Job) {
	if r.removePlaceholder(j) {
		return
	}
	if now < r.outages.until {
		r.sim.Call(now, r.occupy)
	}
	r.integrate(now)
	r.running -= j.Procs
	r.end = now
	r.lost += float64(j.Lost) * float64(j.Procs)
	c := r.excluded[j]
	switch wait, ran := j.Start-j.Submit, j.End-j.Start; {
	case c == nil:
		r.others.add(wait, ran)
		week := r.weeks.at(j.Submit)
		week.Others++
		week.Wait += float64(wait)
	case !c.hard && c.promise == nil:
		r.unreserved.add(wait, ran)
	case c.promise != nil:
		c.promise.ended = true
	}
	if c != nil {
		delete(r.excluded, j)
	}
	if r.Estimator != nil && (c == nil || c.promise == nil) {
		r.Estimator.Learn(j)
	}
	if r.varqd != nil {
		r.varqd.Ended(j)
	}
	if r.callbacks.Ended != nil {
		r.callbacks.Ended(j)
	}
	r.spare = append(r.spare, j)
}

func (r *runner) result() *Result {
	result := &Result{Jobs: r.jobs, First: r.first, Last: r.last, End: r.end, Stops: r.stops}
	if r.jobs == 0 {
		return result
	}
	procs := float64(r.Procs)
	if span := float64(r.last - r.first); span > 0 {
		result.Utilisation = r.busyToLast / procs / span
	}
	if span := float64(r.end - r.first); span > 0 {
		result.UtilisationToEnd = r.busy / procs / span
		result.Held, result.Lost = r.held/procs/span, r.lost/procs/span
	}
	result.Series, result.Weeks = r.series.result(r.Procs), r.weeks
	result.Others = r.others.result()
	r.others.merge(&r.unreserved)
	result.All = r.others.result()
	if r.Reservations.Hard != nil {
		result.Hard = r.hardResult()
	}
	if r.varqd != nil {
		result.VARQ = r.varqd.result(r.weeks)
	}
	return result
}

func (r *runner) hardResult() *HardResult {
	n := len(r.offsets)
	result := &HardResult{Jobs: n, Exact: r.exact}
	if n == 0 {
		return result
	}
	slices.Sort(r.offsets)
	result.Median = r.offsets[(n-1)/2]
	for _, offset := range r.offsets {
		result.Offset += float64(offset) / float64(n)
	}
	return result
}
