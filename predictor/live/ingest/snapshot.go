package ingest

import (
	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/workload"
)

// snapshot is Slurm's queue at one time.
type snapshot struct {
	queue []slurm.QueueEntry
	at    int64
}

// jobs returns the jobs that wait and those that run. A pending job waits once it is
// eligible: it is not held, does not depend on another job, and its begin time has come.
// The pending tasks of an array are one job, as in Slurm's queue.
func (s *snapshot) jobs() (waiting, running []workload.Job) {
	for i := range s.queue {
		e := &s.queue[i]
		switch {
		case e.Start != 0:
			running = append(running, e.Job)
			running[len(running)-1].State = workload.Running
		case !e.Held && e.Eligible != 0 && e.Eligible <= s.at:
			waiting = append(waiting, e.Job)
			waiting[len(waiting)-1].State = workload.Pending
		}
	}
	return waiting, running
}

// later returns the jobs whose begin time has not come.
func (s *snapshot) later() []workload.Job {
	var later []workload.Job
	for i := range s.queue {
		if e := &s.queue[i]; e.Start == 0 && !e.Held && e.Eligible > s.at {
			later = append(later, e.Job)
		}
	}
	return later
}

// waiting returns the jobs that have not started. A job for which nodes are being powered up has
// not, but accounting takes it for one that runs, with a start that is set anew later.
func (s *snapshot) waiting() map[workload.Submission]bool {
	waiting := map[workload.Submission]bool{}
	for i := range s.queue {
		if e := &s.queue[i]; e.Start == 0 {
			waiting[e.Submission()] = true
		}
	}
	return waiting
}

// run is one run of a job.
type run struct{ job, submit, start int64 }

func runOf(j *workload.Job) run { return run{j.ID, j.Submit, j.Start} }

// runsOf returns the runs of jobs as a set.
func runsOf(jobs []workload.Job) map[run]bool {
	runs := make(map[run]bool, len(jobs))
	for i := range jobs {
		runs[runOf(&jobs[i])] = true
	}
	return runs
}
