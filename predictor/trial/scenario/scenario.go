// Package scenario simulates a cluster on which a share of the jobs ask for
// reservations. Reservations are hard, which the scheduler grants and never breaks,
// or VARQ's, which promise a start by a deadline with some probability and are
// planned by the same code as live ones. A Result tells what became of the jobs that
// reserve and how long all others waited. A scenario may have outages, in which no job
// starts.
//
// A run is a function of the scenario and its jobs: the same input gives the same
// result.
package scenario

import (
	"iter"

	"github.com/varq-project/varq/predictor/cluster/sched"
	"github.com/varq-project/varq/predictor/workload"
)

// Scenario is a cluster, its policy, and who reserves.
type Scenario struct {
	Procs        int32 // processors of the cluster
	Order        sched.Order
	Backfill     sched.Backfill
	Reservations Reservations
	// Seed chooses the jobs that ask for a reservation, and the times that hard ones
	// ask for. The choice depends on nothing else but the share: every policy gets the
	// same jobs, and the jobs of a smaller share are among those of a larger one.
	Seed uint64
	// Aside is the share of the jobs that Result.Others leaves out, whether they
	// reserve or not. Scenarios that are to be compared have the greatest share of any
	// of them here; then Others is about the same jobs in each.
	Aside float64
	// Request returns what a job asks for, with the user, the partition and the other
	// names that forecasts tell jobs apart by. Nil stands for as many nodes as
	// processors, and no names.
	Request func(*sched.Job) workload.Request
	// Outage is when no job starts. It must be the zero Outage with hard reservations,
	// which start even then.
	Outage Outage
	// Estimator, if not nil, predicts run times, and the scheduler plans with them
	// instead of the limits. Jobs with a promise of VARQ's keep their limits, because
	// they also hold processors before their work. With an Estimator, hard
	// reservations need Restart.
	Estimator Estimator
	// Background is that of forecast.Options.
	Background func(task func())
}

// Estimator predicts how long a job will run.
type Estimator interface {
	// Estimate returns the predicted run time, in seconds, of a job at its
	// submission. It returns false if it knows no similar job.
	Estimate(j *sched.Job) (seconds int64, ok bool)
	// Learn observes the end of a job. It is not called for jobs with a promise of
	// VARQ's: they run for longer than their work.
	Learn(j *sched.Job)
}

// Watch has callbacks for what happens in a run. Each may be nil.
type Watch struct {
	// Ended is called with every job that has ended, as the scheduler saw it. A job
	// with a promise of VARQ's was submitted when it joined the queue, and its limit
	// and its run time include the time for which it held processors before its work.
	// The job is valid during the call only.
	Ended func(*sched.Job)
	// Answered is called once for every request for one of VARQ's reservations: when
	// it is refused, or else when the job starts.
	Answered func(Reservation)
}

// Reservation is what became of a request for one of VARQ's reservations. Times are
// those of the jobs.
type Reservation struct {
	Job             int64 // its ID
	Asked, Deadline int64
	// Refusal is the reason why there is no promise, in one sentence. It is empty if
	// there is one. The fields after Down are of promises alone.
	Refusal string
	// Down reports a refusal because the cluster seemed to be down, so that nobody
	// could have got a promise.
	Down  bool
	Prob  float64 // the forecast at the time of the promise
	Begin int64   // when the job joined the queue
	Start int64
	// Work is what the work takes and Held what the job holds before it, both in
	// processor seconds.
	Work, Held float64
}

// Kept reports whether there was a promise and the job started by the deadline.
func (r *Reservation) Kept() bool { return r.Refusal == "" && r.Start <= r.Deadline }

// Run simulates the scenario until all jobs have ended. The jobs must come in the
// order of their submission. Run returns an error only if jobs yields one. It panics
// if the configuration of the cluster is invalid, if a job is larger than the cluster,
// or if jobs are out of order. It keeps the jobs that are in the system, and 4 bytes
// for each job that was.
func (s *Scenario) Run(jobs iter.Seq2[sched.Job, error], w Watch) (*Result, error) {
	r := newRun(s, w)
	for j, err := range jobs {
		if err != nil {
			return nil, err
		}
		r.submit(&j)
	}
	r.sim.Drain()
	return r.result(), nil
}
