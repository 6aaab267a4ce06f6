// Package scenario simulates a cluster on which a share of the jobs ask for reservations. There are
// two kinds. A hard reservation is a fixed start time, which the scheduler grants and never breaks.
// A VARQ reservation promises a start by a deadline with a probability; package trajectory plans
// it, as for varqd. A Result tells what became of the jobs that asked for a reservation, and how
// long all others waited. A scenario may have outages, in which no job starts.
//
// The result depends on the scenario and its jobs alone: equal input gives an equal result.
package scenario

import (
	"iter"

	"github.com/varq-project/varq/predictor/cluster/sched"
	"github.com/varq-project/varq/predictor/workload"
)

// Scenario is a cluster, its scheduling policy, and the jobs that ask for reservations.
type Scenario struct {
	Procs        int32 // processors of the cluster
	Order        sched.Order
	Backfill     sched.Backfill
	Reservations Reservations
	// Seed chooses the jobs that ask for a reservation, and the start times that jobs
	// with hard reservations ask for. It also seeds the forecaster. The chosen jobs
	// depend on the seed and the share only. So every policy gets the same jobs, and a
	// larger share contains the jobs of a smaller one.
	Seed uint64
	// Aside is the least share of the jobs that Result.Others leaves out. Others
	// always leaves out the jobs that ask for a reservation. To compare scenarios, set
	// Aside in each to the largest share among them: Others is then about the same
	// jobs in each.
	Aside float64
	// Request returns what a job asks for: its size, and the names that a forecaster
	// distinguishes jobs by, such as the user and the partition. If Request is nil, a
	// job asks for as many nodes as processors and has no names.
	Request func(*sched.Job) workload.Request
	// Outage is a period in which no job starts. It must be the zero Outage if there
	// are hard reservations, because the scheduler starts those at their fixed times.
	// Run does not check this.
	Outage Outage
	// Estimator, if not nil, predicts run times. The scheduler plans with the
	// predictions instead of the time limits, except for jobs with a promise of
	// VARQ's, because those also hold processors before their work. With an Estimator,
	// hard reservations need Hard.Restart.
	Estimator Estimator
	// Background is predictor.Options.Background.
	Background func(task func())
}

// Estimator predicts how long a job will run.
type Estimator interface {
	// Estimate returns the predicted run time, in seconds, of a job at its
	// submission. It returns false if it knows no similar job.
	Estimate(j *sched.Job) (seconds int64, ok bool)
	// Learn observes the end of a job. Run does not call it for jobs with a promise of
	// VARQ's, because those run for longer than their work.
	Learn(j *sched.Job)
}

// Callbacks are the functions that Run calls. Each may be nil.
type Callbacks struct {
	// Ended is called with every job that has ended, as the scheduler saw it. For a job
	// with a promise of VARQ's, Submit is the time at which the job joined the queue,
	// and Limit and the run time include the time for which the job held processors
	// before its work. The job is valid during the call only.
	Ended func(*sched.Job)
	// Answered is called once for every request for a reservation of VARQ's: when the
	// request is refused, or when the job with the promise starts.
	Answered func(Outcome)
}

// Outcome is what became of a request for a reservation of VARQ's: a refusal, or a
// promise and the start of its job. Times are in the clock of the jobs' Submit.
type Outcome struct {
	Job   int64 // ID
	Asked int64
	// Wanted is the deadline that the job asked for. Deadline is the one promised, which is
	// later if the job has taken an offer.
	Wanted, Deadline int64
	// Refusal is the reason for a refusal, in one sentence. It is empty if there is a
	// promise. Without a promise, the fields after Down are zero.
	Refusal string
	// Down reports that the request was refused because the cluster seemed to be down.
	Down  bool
	Prob  float64 // the forecast at the time of the promise
	Begin int64   // when the job joined the queue
	Start int64
	// Work is the processor seconds of the job's work. Held is the processor seconds
	// for which the job held processors before its work. Quoted is the most that Held
	// could be when the promise was made.
	Work, Held, Quoted float64
}

// Kept reports whether there was a promise and the job started by the deadline.
func (o *Outcome) Kept() bool { return o.Refusal == "" && o.Start <= o.Deadline }

// Run simulates the scenario until all jobs have ended. The jobs must come in the
// order of their submission. Run returns an error only if jobs yields one. It panics
// if the configuration of the cluster is invalid, if a job is larger than the cluster,
// or if jobs are out of order. Its memory holds the jobs that wait or run, and 4 bytes
// for each job that has ended.
func (s *Scenario) Run(jobs iter.Seq2[sched.Job, error], callbacks Callbacks) (*Result, error) {
	r := newRunner(s, callbacks)
	if s.Reservations.arrays() != NoArrays {
		for tasks, err := range bursts(jobs, r.varqd.Request) {
			if err != nil {
				return nil, err
			}
			r.submitBurst(tasks)
		}
		r.sim.Drain()
		return r.result(), nil
	}
	for j, err := range jobs {
		if err != nil {
			return nil, err
		}
		r.submit(&j)
	}
	r.sim.Drain()
	return r.result(), nil
}
