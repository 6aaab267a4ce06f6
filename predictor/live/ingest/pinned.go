package ingest

import (
	"maps"

	"github.com/varq-project/varq/predictor/workload"
)

// pinned has the jobs that the queue has shown as pinned, and when it did last. Accounting
// does not tell, and may report a job after it has left the queue.
type pinned map[submission]int64

// submission identifies a job. Slurm uses ids again.
type submission struct{ job, submit int64 }

// observe takes in a snapshot, and forgets jobs that were last shown a day before.
func (p pinned) observe(s *snapshot) {
	for i := range s.queue {
		j := &s.queue[i]
		if key := (submission{j.ID, j.Submit}); j.Pinned {
			p[key] = s.at
		} else {
			delete(p, key)
		}
	}
	maps.DeleteFunc(p, func(_ submission, shown int64) bool { return shown < s.at-day })
}

// mark sets Pinned of jobs of accounting.
func (p pinned) mark(jobs []workload.Job) {
	for i := range jobs {
		_, jobs[i].Pinned = p[submission{jobs[i].ID, jobs[i].Submit}]
	}
}
