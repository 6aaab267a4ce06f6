package look

import (
	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/workload"
)

// Waits finds the jobs that begin to wait. The zero value has seen no Look. One goroutine at a time
// calls its method.
type Waits struct {
	waiting map[workload.Submission]int64 // jobs in the last Look, and when their waits began
	last    int64                         // time of the last Look, 0 before the first
}

// Begun takes in the whole queue, and returns the jobs whose waits have begun since the last Look.
// There are none in the first.
func (w *Waits) Begun(l *Look) []*slurm.QueueEntry {
	var jobs []*slurm.QueueEntry
	waiting := make(map[workload.Submission]int64, len(l.Jobs))
	for i := range l.Jobs {
		j := &l.Jobs[i]
		if j.Eligible == 0 || j.Eligible > l.At || j.Held || j.AtLimit || j.ArrayJob != 0 || j.HetJob != 0 && j.HetJob != j.ID {
			continue
		}
		id := j.Submission()
		waiting[id] = j.Eligible
		if w.last != 0 && j.Eligible >= w.last && w.waiting[id] != j.Eligible {
			jobs = append(jobs, j)
		}
	}
	w.waiting, w.last = waiting, l.At
	return jobs
}
