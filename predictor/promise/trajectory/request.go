package trajectory

import (
	"fmt"

	"github.com/varq-project/varq/predictor/slurmtime"
	"github.com/varq-project/varq/predictor/workload"
)

// year bounds how far away a deadline and how long a job may be, in seconds.
const year = 366 * 24 * 3600

// Request asks for a reservation.
type Request struct {
	// Job is what the work needs. Its Limit is the time limit of the work alone, in
	// seconds. Empty fields take Slurm's defaults.
	Job workload.Request
	// Now is the present time, and Deadline the time by which the work must run, both
	// in Unix seconds.
	Now, Deadline int64
	// HoldUntil is the time from which the work may start: the deadline (a strict
	// request), a time before it (a window), or 0 (best effort: whenever the job
	// starts).
	HoldUntil int64
	// Prob is the success probability asked for, in (0,1).
	Prob float64
}

// check returns why the request makes no sense, or nil.
func (r *Request) check() error {
	switch {
	case !(r.Prob > 0 && r.Prob < 1):
		return fmt.Errorf("the probability %v is not between 0 and 1", r.Prob)
	case r.Now < 0 || r.Deadline <= r.Now:
		return fmt.Errorf("the deadline has passed")
	case r.Deadline-r.Now > year:
		return fmt.Errorf("the deadline is more than a year away")
	case r.HoldUntil < 0 || r.HoldUntil > r.Deadline:
		return fmt.Errorf("the work may not start until after the deadline")
	case r.Job.Limit < 0 || r.Job.Limit > year:
		return fmt.Errorf("the time limit %d s is not between 0 and a year", r.Job.Limit)
	case r.Job.Nodes < 0 || r.Job.CPUs < 0 || r.Job.GPUs < 0 || r.Job.Memory < 0:
		return fmt.Errorf("a job cannot ask for less than nothing")
	}
	return nil
}

// held returns how long, in seconds, a job holds its nodes before the work if it becomes
// eligible at begin and starts at once. If it starts later, it holds them for less.
func (r *Request) held(begin int64) int64 { return max(0, r.HoldUntil-begin) }

// enlarged returns the time limit of a job that becomes eligible at begin: that of the
// work and the longest time that it may hold its nodes before, rounded up to whole
// minutes as Slurm stores limits.
func (r *Request) enlarged(begin int64) int64 { return minutes(r.Job.Limit + r.held(begin)) }

// minutes rounds seconds up to whole minutes.
func minutes(seconds int64) int64 { return slurmtime.Minutes(seconds) * 60 }
