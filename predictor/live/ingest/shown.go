package ingest

import (
	"maps"
	"slices"

	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/workload"
)

// shown has the jobs that the queue has shown as pinned or at a limit. Accounting does not
// tell which are pinned, and may report a job after it has left the queue. The queue does not
// tell what a job waited for that runs.
type shown map[submission]apart

// apart is why the wait of a job is none that others may expect.
type apart struct {
	pinned  bool  // when it was shown last
	atLimit bool  // at any time
	at      int64 // when it was shown last, Unix seconds
}

// submission identifies a job. Slurm uses ids again.
type submission struct{ job, submit int64 }

// observe takes in the queue at a time, and forgets jobs that were last shown a day before. It
// returns the queue with AtLimit of the jobs that run.
func (p shown) observe(queue []slurm.QueueEntry, at int64) []slurm.QueueEntry {
	queue = slices.Clone(queue) // others read it, too
	for i := range queue {
		j := &queue[i].Job
		key := submission{j.ID, j.Submit}
		was := apart{j.Pinned, j.AtLimit || p[key].atLimit, at}
		if j.Start != 0 {
			j.AtLimit = was.atLimit
		}
		if was.pinned || was.atLimit {
			p[key] = was
		} else {
			delete(p, key)
		}
	}
	maps.DeleteFunc(p, func(_ submission, was apart) bool { return was.at < at-day })
	return queue
}

// mark sets Pinned and AtLimit of jobs of accounting.
func (p shown) mark(jobs []workload.Job) {
	for i := range jobs {
		was := p[submission{jobs[i].ID, jobs[i].Submit}]
		jobs[i].Pinned, jobs[i].AtLimit = was.pinned, was.atLimit || jobs[i].AtLimit
	}
}
