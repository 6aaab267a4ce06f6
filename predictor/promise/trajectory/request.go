package trajectory

import (
	"fmt"

	"github.com/varq-project/varq/predictor/slurmtime"
	"github.com/varq-project/varq/predictor/workload"
)

// year, in seconds, is the greatest lead of a deadline and the greatest time limit.
const year = 366 * 24 * 3600

// Request asks for a reservation.
type Request struct {
	// Job is what the work needs. Its Limit is the time limit of the work alone, in
	// seconds. Empty fields take Slurm's defaults.
	Job workload.Request
	// Others are further partitions in which Slurm may start the job, if its user has named several.
	// The forecast is of Job's partition alone, so that the others can only make a start sooner.
	Others []string
	// ID is that of the job if it has been submitted already, and 0 otherwise, as
	// workload.Candidate.Job says.
	ID int64
	// Needs say on which nodes the job may run; nil if on any.
	Needs *workload.Needs
	// Pieces are what it needs of single nodes. Plan finds them by Needs.
	Pieces workload.Pieces
	// Now is the present time, and Deadline the time by which the job must start, both
	// in Unix seconds.
	Now, Deadline int64
	// HoldUntil is the time from which the work may start, in Unix seconds. It is the
	// deadline (a strict request), a time before the deadline (a window), or 0 (best
	// effort: the work starts when the job does).
	HoldUntil int64
	// Earliest is the ceiling on the cost of idle nodes, as a time: the job does not
	// become eligible before it, in Unix seconds. So the nodes idle for at most HoldUntil
	// - Earliest. 0 stands for no ceiling.
	Earliest int64
	// Prob is the success probability asked for, in (0,1).
	Prob float64
}

// check returns an error that says why the request is invalid, or nil.
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
	case r.Earliest < 0 || r.Earliest > r.Deadline:
		return fmt.Errorf("the job may not become eligible until after the deadline")
	case r.Job.Limit < 0 || r.Job.Limit > year:
		return fmt.Errorf("the time limit %d s is not between 0 and a year", r.Job.Limit)
	case r.Job.Nodes < 0 || r.Job.CPUs < 0 || r.Job.GPUs < 0 || r.Job.Memory < 0:
		return fmt.Errorf("a job cannot ask for less than nothing")
	}
	return nil
}

// idle returns the longest time, in seconds, for which the nodes of a job that becomes
// eligible at begin may idle before the work. They idle that long if the job starts at
// begin.
func (r *Request) idle(begin int64) int64 { return max(0, r.HoldUntil-begin) }

// Ceiling returns the Earliest with which no revision costs more than times what was quoted,
// the cost of a plan that makes the job eligible at begin. times is at least 1. For a
// best-effort request, whose nodes never idle, there is no ceiling.
func (r *Request) Ceiling(begin int64, times float64) int64 {
	return max(0, r.HoldUntil-int64(times*float64(r.idle(begin))))
}

// enlarged returns the time limit of a job that becomes eligible at begin. It is the work's
// time limit plus idle(begin), rounded up to whole minutes as Slurm stores limits.
func (r *Request) enlarged(begin int64) int64 { return minutes(r.Job.Limit + r.idle(begin)) }

// minutes rounds seconds up to whole minutes.
func minutes(seconds int64) int64 { return slurmtime.Minutes(seconds) * 60 }
