// Package booking simulates a cluster on which some users reserve processors ahead. They use the
// elastic requests of Röblitz, Schintke and Wendler, "Elastic Grid Reservations with User-Defined
// Optimization Policies" (2005), section 4. Each request has a window of time and a range of
// processors. The site answers with slots and their estimated success rates. The slots that are
// good enough are tried in the order of the user's preferences. The results are how many requests
// succeed, how many slots are tried in vain, and how long the other jobs wait.
//
// The cluster is one pool of processors, first come, first served, with backfilling by the users'
// limits. Equal arguments give equal results.
package booking

import (
	"math"

	"github.com/varq-project/varq/predictor/cluster/sched"
	"github.com/varq-project/varq/predictor/forecast/speedup"
	"github.com/varq-project/varq/predictor/promise/elastic"
	"github.com/varq-project/varq/predictor/promise/tariff"
)

// Experiment is a cluster with its users. All times are in seconds.
type Experiment struct {
	Procs int32
	// Unit is of what the processors of a job are a multiple: those of a node.
	Unit     int32
	Backfill sched.Backfill
	// Ahead is how long after its submission a reservation starts at the earliest, and Range by how
	// much its window is longer than its job.
	Ahead, Range int64
	// Least and Most are the range of the processors of a reservation, in times of what its job has
	// in the log.
	Least, Most float64
	// Curve is the speedup of the jobs that are reserved for.
	Curve  speedup.Curve
	Prefer elastic.Preferences
	// MinProb is the least estimated success rate of a slot that is tried.
	MinProb float64
	// Slots and Gap are those of elastic.Request.
	Slots int
	Gap   int64
	// Tariff is what a processor costs.
	Tariff *tariff.Tariff
	// Accuracy is how much of their limits jobs are taken to use where the end of the known
	// workload is estimated.
	Accuracy float64
	// Method estimates success rates.
	Method Method
	// Unchecked is true if the success rate alone decides which slots may be reserved. Otherwise
	// the site also refuses those that start before the end of the known workload, as esr.Load
	// estimates it, so that reservations do not overtake waiting jobs (section 3.3.2).
	Unchecked bool
}

// Booking is what became of a request.
type Booking struct {
	// Candidates is the number of slots in the answer, and Probable that of those that were good
	// enough.
	Candidates, Probable int
	// Workload and Conflict are how many slots were tried in vain: because the known workload was
	// estimated to end after their start, and because the scheduler could not plan them.
	Workload, Conflict int
	// Slot is the one that was reserved, or nil.
	Slot *elastic.Slot
}

// Result is what comes of an experiment.
type Result struct {
	// Waits are how long the jobs waited that did not ask for a reservation, in seconds, in the
	// order of their submission.
	Waits []int64
	// Bookings are the requests in the order of their submission.
	Bookings []Booking
}

// Run simulates jobs, which must be in the order of their submission and fit the cluster. Those for
// which reserves is true ask for a reservation for their run time, and never run without one. Run
// does not change the jobs.
func (e *Experiment) Run(jobs []sched.Job, reserves func(i int) bool) Result {
	r := newRun(e)
	for i := range jobs {
		j := jobs[i]
		if i == 0 {
			r.sim.Reset(j.Submit)
			r.method.begin(r, j.Submit, jobs[len(jobs)-1].Submit)
		}
		if !reserves(i) {
			r.others[&j] = len(r.result.Waits)
			r.result.Waits = append(r.result.Waits, 0)
			r.sim.Submit(&j)
			r.sim.Call(j.Submit, func(int64) { r.method.submitted(&j) })
			continue
		}
		number := len(r.result.Bookings)
		r.result.Bookings = append(r.result.Bookings, Booking{})
		r.sim.Call(j.Submit, func(now int64) { r.result.Bookings[number] = r.book(now, &j) })
	}
	r.sim.Drain()
	return r.result
}

// sizes returns the numbers of processors that a job may have within a window, and how long it then
// takes: the paper's adaptation of the request (section 3.2.1), and of the duration (equation 5).
func (e *Experiment) sizes(j *sched.Job, window int64) []size {
	run := float64(runTime(j))
	whole := e.Curve.Of(float64(j.Procs))
	units := func(procs float64, round func(float64) float64) int32 {
		return int32(round(procs/float64(e.Unit))) * e.Unit
	}
	most := min(units(float64(j.Procs)*e.Most, math.Floor), e.Procs)
	const slip = 1e-9 // the job's own size takes its own time
	fits, ok := speedup.Least(e.Curve, whole*run/float64(window)*(1-slip), most)
	if !ok {
		return nil
	}
	var sizes []size
	least := max(units(float64(j.Procs)*e.Least, math.Ceil), units(float64(fits), math.Ceil))
	for procs := least; procs <= most; procs += e.Unit {
		seconds := int64(math.Ceil(run*whole/e.Curve.Of(float64(procs)) - slip))
		sizes = append(sizes, size{procs, seconds})
	}
	return sizes
}

// size is a number of processors, and the seconds that a job takes on them.
type size struct {
	procs   int32
	seconds int64
}

// runTime returns how long a job runs, at least a second.
func runTime(j *sched.Job) int64 { return max(1, min(j.Run, j.Limit)) }
