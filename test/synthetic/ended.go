package synthetic

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/varq-project/varq/predictor/cluster/sched"
	"github.com/varq-project/varq/predictor/workload"
)

// Ended is a sim.Observer that collects the jobs that have ended, those of the user 3 as of
// "user3".
type Ended struct{ jobs []workload.Job }

// Jobs returns the jobs that have ended, by ID.
func (e *Ended) Jobs() []workload.Job {
	slices.SortFunc(e.jobs, func(a, b workload.Job) int { return cmp.Compare(a.ID, b.ID) })
	return e.jobs
}

// Ended implements sim.Observer.
func (e *Ended) Ended(_ int64, j *sched.Job) {
	done := workload.Job{ID: j.ID, Submit: j.Submit, Eligible: j.Submit, Start: j.Start, End: j.End, State: workload.Completed}
	done.User, done.CPUs, done.Limit = fmt.Sprint("user", j.User), j.Procs, j.Limit
	e.jobs = append(e.jobs, done)
}

// Started implements sim.Observer.
func (*Ended) Started(int64, *sched.Job) {}

// Reserved implements sim.Observer.
func (*Ended) Reserved(int64, *sched.Job, int64, int64) {}

// Stopped implements sim.Observer.
func (*Ended) Stopped(int64, *sched.Job) {}
