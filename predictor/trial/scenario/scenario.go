// Package scenario simulates a cluster some of whose users reserve: by hard
// advance reservations, or by VARQ's, which the code plans that plans live ones.
// It tells what that does to those who reserve and to those who do not.
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
	// Seed decides which jobs become reservations, and when hard ones are to
	// start. It chooses the same jobs of a workload whatever the policy, and of
	// two shares the smaller is a part of the larger.
	Seed uint64
	// Aside is the share of the jobs that Result.Others is not about even if they
	// do not reserve, because they do in another scenario to compare with: with
	// the greatest share of all scenarios, Others is about the same jobs in each.
	Aside float64
	// Request tells what a job asks its queue for, with the names that classes
	// of jobs go by; nil: as many nodes as processors, in one partition.
	Request func(*sched.Job) workload.Request
	// Outage is when no job starts. There must be none with hard reservations, which
	// start whatever happens.
	Outage Outage
	// Estimator, if not nil, predicts run times, which jobs are then planned with
	// instead of their limits, but for those with VARQ's promises: how long they
	// hold their processors is not theirs to tell. Hard reservations need Restart
	// then.
	Estimator Estimator
}

// Estimator predicts how long a job will run.
type Estimator interface {
	// Estimate returns the predicted run time of a job that is submitted, seconds;
	// false if nothing is known of its like.
	Estimate(j *sched.Job) (seconds int64, ok bool)
	// Learn takes in a job that has ended, unless it was promised a start: it ran
	// for longer than its work.
	Learn(j *sched.Job)
}

// Watch is told what goes on. Its functions may be nil.
type Watch struct {
	// Ended is called with every job that has ended, as the cluster saw it: one
	// with VARQ's promise came when it joined the queue, and its limit and run
	// time contain the time that it held its processors before its work. The job
	// is not the watch's to keep.
	Ended func(*sched.Job)
	// Answered is called with every request for one of VARQ's reservations: when
	// it is refused, or when the job starts that was promised to.
	Answered func(Reservation)
}

// Reservation is what became of a request for one of VARQ's. Times are as jobs
// have them.
type Reservation struct {
	Job             int64 // its ID
	Asked, Deadline int64
	// Refusal is why there is no promise, one sentence; it is empty if there is,
	// and what follows means nothing if it is not. Down tells that nobody would have
	// got one, as during an outage.
	Refusal string
	Down    bool
	Prob    float64 // forecast when it was promised
	Begin   int64   // when the job joined the queue
	Start   int64
	// Work and Held are the processor seconds that the work takes and those that
	// the job holds before.
	Work, Held float64
}

// Kept reports whether there was a promise, and the job was running by its
// deadline.
func (r *Reservation) Kept() bool { return r.Refusal == "" && r.Start <= r.Deadline }

// Run simulates the scenario until the last of the jobs, which come in the order
// of their submission, has ended. Its only error is the jobs' own. It panics if
// the cluster makes no sense, or a job that is larger than it, or not in order.
// It takes memory for the jobs that are in the system, and 4 bytes for each that
// has been.
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
