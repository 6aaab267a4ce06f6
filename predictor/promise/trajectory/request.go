package trajectory

import (
	"cmp"
	"fmt"
	"iter"

	"github.com/varq-project/varq/predictor/promise/offer"
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
	// Tasks is how many jobs like Job, the tasks of an array, are to run at the same time; 0 stands
	// for 1. The deadline is that of the one which starts last.
	Tasks int32
	// Holding is how many tasks of the array may hold nodes before the work may start, if these are
	// more than Tasks.
	Holding int32
	// ID is that of the job if it has been submitted already, and 0 otherwise, as
	// workload.Candidate.Job says.
	ID int64
	// Needs say on which nodes the job may run; nil if on any.
	Needs *workload.Needs
	// Pieces are what one of them needs of single nodes, and TasksNodes is on how many nodes all
	// Tasks are at least; 0 if that is not known. Plan finds both by Needs.
	Pieces     workload.Pieces
	TasksNodes int32
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
	// Given is true if the request was offered a moment ago, and GivenIdle is for how many seconds
	// its nodes may idle at most, as was said then.
	Given     bool
	GivenIdle int64
	// offered is true of a request that is to be offered: its user is to have the time to ask for
	// it, and it is to be promised then, too.
	offered bool
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
	case r.Tasks < 0:
		return fmt.Errorf("an array cannot have less than no tasks")
	case r.Job.Nodes < 0 || r.Job.CPUs < 0 || r.Job.GPUs < 0 || r.Job.Memory < 0:
		return fmt.Errorf("a job cannot ask for less than nothing")
	}
	return nil
}

// comesBy returns the time, in Unix seconds, by which the request comes for certain.
func (r *Request) comesBy() int64 {
	if r.offered {
		return r.Now + offer.Patience
	}
	return r.Now
}

// enough returns the forecast with which the request can be promised.
func (r *Request) enough() float64 {
	if r.offered {
		return offer.Enough(r.Prob)
	}
	return r.Prob
}

// tasks returns how many jobs are to run at the same time.
func (r *Request) tasks() int32 { return max(1, r.Tasks) }

// holding returns how many jobs may hold nodes before the work may start.
func (r *Request) holding() int32 { return max(r.tasks(), r.Holding) }

// share returns how many jobs may hold nodes for each that is to run at the same time.
func (r *Request) share() float64 { return float64(r.holding()) / float64(r.tasks()) }

// All returns a job that needs what all tasks need together. It starts no sooner than the last of
// the tasks, since these need not wait for one another.
func (r *Request) All() workload.Request {
	job := r.Job
	if r.tasks() > 1 {
		job.Size = job.Times(r.Tasks)
		job.Nodes = cmp.Or(r.TasksNodes, job.Nodes)
	}
	return job
}

// besideTasks yields jobs, and the tasks of the request but one, as if they had started.
func (r *Request) besideTasks(jobs iter.Seq[*workload.Job]) iter.Seq[*workload.Job] {
	if r.tasks() == 1 {
		return jobs
	}
	others := &workload.Job{Request: r.Job, Start: r.Deadline, Tasks: r.Tasks - 1}
	return func(yield func(*workload.Job) bool) {
		for j := range jobs {
			if !yield(j) {
				return
			}
		}
		yield(others)
	}
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
