package scenario

import (
	"math/rand/v2"
	"slices"

	"github.com/varq-project/varq/predictor/cluster/sched"
	"github.com/varq-project/varq/predictor/cluster/sim"
)

// run is the state of a scenario that is being simulated. It observes its simulator.
type run struct {
	*Scenario
	watch  Watch
	sim    *sim.Simulator
	random *rand.Rand
	spare  []*sched.Job // ended, to be used again
	varq   *varqd       // nil without VARQ's reservations
	outage outage

	// special has the jobs in the system that asked for a reservation, or were set
	// aside.
	special map[*sched.Job]*grant

	jobs             int
	first, last, end int64
	running          int32   // processors
	queued           int     // jobs
	now              int64   // the time up to which busy and series are integrated
	busy, busyToLast float64 // processor seconds of running jobs, up to now and up to the last submission
	held, lost       float64 // processor seconds
	stops            int
	others           waits // of the jobs that are not special
	aside            waits // of the special jobs that have no reservation
	exact            int
	offsets          []int64
	series           *series
}

// grant is the reservation that a special job got. The zero value is none.
type grant struct {
	hard    bool
	promise *promise // VARQ's
}

func newRun(s *Scenario, w Watch) *run {
	r := &run{
		Scenario: s,
		watch:    w,
		random:   rand.New(rand.NewPCG(s.Seed, 0x5641_5251)),
		special:  make(map[*sched.Job]*grant),
	}
	config := sched.Config{Procs: s.Procs, Order: s.Order, Backfill: s.Backfill}
	if hard := s.Reservations.Hard; hard != nil {
		config.Protected, config.Restart = hard.Protected, hard.Restart
	}
	r.sim = sim.New(config, r)
	if s.Reservations.VARQ != nil {
		r.varq = newVarqd(s)
	}
	return r
}

// submit simulates up to the submission of the next job of the workload, and submits it.
func (r *run) submit(job *sched.Job) {
	if r.series == nil {
		r.sim.Advance(job.Submit)
		r.series = newSeries(job.Submit)
		r.first, r.now, r.end = job.Submit, job.Submit, job.Submit
		r.outage = newOutage(r.Outage, job.Submit)
	}
	r.scheduleOutages(job.Submit)
	r.jobs++
	r.last = job.Submit
	j := r.job()
	*j = *job
	r.sim.Advance(j.Submit)
	r.integrate(j.Submit)
	r.busyToLast = r.busy
	if r.Estimator != nil {
		if seconds, ok := r.Estimator.Estimate(j); ok {
			j.Estimate = max(1, min(seconds, j.Limit))
		}
	}
	// Both are drawn for every job, whether they are used or not, so that the
	// choice of each job is independent of all others.
	u, v := r.random.Float64(), r.random.Float64()
	hard, varq := r.Reservations.Hard, r.Reservations.VARQ
	switch {
	case hard != nil && u < hard.Share:
		r.special[j] = &grant{hard: true}
		r.sim.Reserve(j, j.Submit+int64(v*float64(hard.Ahead)))
	case varq != nil && u < varq.Share:
		r.reserve(j)
	case u < r.Aside:
		r.special[j] = &grant{}
		r.enqueue(j)
	default:
		r.enqueue(j)
	}
}

// enqueue puts j into the queue now.
func (r *run) enqueue(j *sched.Job) {
	r.queued++
	r.sim.Submit(j)
	if r.varq != nil {
		r.varq.submitted(j)
	}
}

// job returns a job to be overwritten.
func (r *run) job() *sched.Job {
	last := len(r.spare) - 1
	if last < 0 {
		return new(sched.Job)
	}
	j := r.spare[last]
	r.spare = r.spare[:last]
	return j
}

// integrate extends busy and series, over a period in which the running and the queued
// jobs were what they are, until now.
func (r *run) integrate(now int64) {
	if now == r.now {
		return
	}
	r.busy += float64(r.running) * float64(now-r.now)
	r.now = now
	r.series.add(now, r.queued, r.running)
}

// Reserved implements sim.Observer.
func (r *run) Reserved(_ int64, _ *sched.Job, at, start int64) {
	offset := max(at-start, start-at)
	r.offsets = append(r.offsets, offset)
	if offset == 0 {
		r.exact++
	}
}

// Started implements sim.Observer.
func (r *run) Started(now int64, j *sched.Job) {
	r.integrate(now)
	r.running += j.Procs
	c := r.special[j]
	if c == nil || !c.hard {
		r.queued--
	}
	if r.varq != nil {
		r.varq.started(j)
	}
	if c != nil && c.promise != nil {
		r.deliver(now, j, c.promise)
	}
}

// Stopped implements sim.Observer.
func (r *run) Stopped(now int64, j *sched.Job) {
	r.integrate(now)
	r.running -= j.Procs
	r.queued++
	r.stops++
}

// Ended implements sim.Observer.
func (r *run) Ended(now int64, j *sched.Job) {
	if r.endPlaceholder(j) {
		return
	}
	if now < r.outage.until {
		r.sim.Call(now, r.occupy)
	}
	r.integrate(now)
	r.running -= j.Procs
	r.end = now
	r.lost += float64(j.Lost) * float64(j.Procs)
	c := r.special[j]
	switch wait, ran := j.Start-j.Submit, j.End-j.Start; {
	case c == nil:
		r.others.add(wait, ran)
	case !c.hard && c.promise == nil:
		r.aside.add(wait, ran)
	case c.promise != nil:
		c.promise.ended = true
	}
	if c != nil {
		delete(r.special, j)
	}
	if r.Estimator != nil && (c == nil || c.promise == nil) {
		r.Estimator.Learn(j)
	}
	if r.varq != nil {
		r.varq.ended(j)
	}
	if r.watch.Ended != nil {
		r.watch.Ended(j)
	}
	r.spare = append(r.spare, j)
}

func (r *run) result() *Result {
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
	result.Series = r.series.result(r.Procs)
	result.Others = r.others.result()
	r.others.merge(&r.aside)
	result.All = r.others.result()
	if r.Reservations.Hard != nil {
		result.Hard = r.hardResult()
	}
	if r.varq != nil {
		result.VARQ = r.varq.result()
	}
	return result
}

func (r *run) hardResult() *HardResult {
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
