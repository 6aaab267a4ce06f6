package ingest

import (
	"maps"
	"slices"

	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/workload"
)

// shown has the jobs that the queue has shown as pinned, at a limit, or with a priority. Accounting
// does not tell which are pinned, and may report a job after it has left the queue. The queue does
// not tell what a job waited for that runs, nor the priority that it began to wait with.
type shown map[workload.Submission]apart

// apart is why the wait of a job is none that others may expect, and the priority with which it
// began to wait.
type apart struct {
	pinned  bool // when it was shown last
	atLimit bool // at any time
	// priority is the one that was shown first, or 0.
	priority int64
	at       int64 // when it was shown last, Unix seconds
}

// observe takes in the queue at a time, and forgets jobs that were last shown a day before. It
// returns the queue with AtLimit and Priority of the jobs that run, and with what order.read makes
// of those that wait.
func (p shown) observe(queue []slurm.QueueEntry, o *order, at int64) []slurm.QueueEntry {
	queue = slices.Clone(queue) // others read it, too
	for i := range queue {
		j := &queue[i].Job
		key := j.Submission()
		if j.Start == 0 {
			o.read(j, at)
		}
		was := apart{j.Pinned, j.AtLimit || p[key].atLimit, p[key].priority, at}
		if was.priority == 0 && j.Eligible != 0 && j.Eligible <= at {
			was.priority = j.Priority
		}
		if j.Start != 0 {
			j.AtLimit, j.Priority = was.atLimit, was.priority
		}
		if was.pinned || was.atLimit || was.priority != 0 {
			p[key] = was
		} else {
			delete(p, key)
		}
	}
	maps.DeleteFunc(p, func(_ workload.Submission, was apart) bool { return was.at < at-day })
	return queue
}

// mark sets Pinned, AtLimit and Priority of jobs of accounting.
func (p shown) mark(jobs []workload.Job) {
	for i := range jobs {
		was := p[jobs[i].Submission()]
		jobs[i].Pinned, jobs[i].AtLimit, jobs[i].Priority = was.pinned, was.atLimit || jobs[i].AtLimit, was.priority
	}
}
