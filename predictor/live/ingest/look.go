package ingest

import (
	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/workload"
)

// look is the queue as it was at a time.
type look struct {
	queue []slurm.QueueEntry
	at    int64
}

// jobs returns those that wait and those that run. Who is held, depends on another
// job or has a begin time to come does not wait yet; the tasks of an array that are
// not told apart wait as one job.
func (l *look) jobs() (waiting, running []workload.Job) {
	for i := range l.queue {
		e := &l.queue[i]
		switch {
		case e.Start != 0:
			running = append(running, e.Job)
			running[len(running)-1].State = workload.Running
		case !e.Held && e.Eligible != 0 && e.Eligible <= l.at:
			waiting = append(waiting, e.Job)
			waiting[len(waiting)-1].State = workload.Pending
		}
	}
	return waiting, running
}

// run is one run of a job.
type run struct{ job, submit, start int64 }

func runOf(j *workload.Job) run { return run{j.ID, j.Submit, j.Start} }

func runsOf(jobs []workload.Job) map[run]bool {
	runs := make(map[run]bool, len(jobs))
	for i := range jobs {
		runs[runOf(&jobs[i])] = true
	}
	return runs
}
