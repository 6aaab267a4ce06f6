package ingest

import (
	"cmp"
	"maps"
	"slices"

	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/workload"
)

// shown has the jobs that the queue has shown with a node set, GPUs, licences, at a limit, or with
// a priority. Accounting does not tell all that node sets follow from, nor of GPUs and licences
// that it does not count, and may report a job after it has left the queue. The queue does not tell
// what a job waited for that runs, nor the priority that it began to wait with.
type shown map[workload.Submission]apart

// apart is what sets the wait of a job apart from those of others.
type apart struct {
	nodeSet string // when it was shown waiting last
	// when it was shown last
	gpus     int32
	licences workload.Licences
	atLimit  bool // at any time
	// priority is the one that was shown first when it waited, or 0.
	priority int64
	at       int64 // when it was shown last, Unix seconds
}

// observe takes in the queue at a time, and forgets jobs that were last shown a day before. It
// returns the queue with NodeSet, AtLimit and Priority of the jobs that run, and with what
// order.read makes of those that wait.
func (p shown) observe(queue []slurm.QueueEntry, o *order, at int64) []slurm.QueueEntry {
	queue = slices.Clone(queue) // others read it, too
	for i := range queue {
		j := &queue[i].Job
		key := j.Submission()
		if j.Start == 0 {
			o.read(j, at)
		}
		before, known := p[key]
		was := apart{j.NodeSet, j.GPUs, j.Licences, j.AtLimit || before.atLimit, before.priority, at}
		if known && j.Start != 0 {
			was.nodeSet = before.nodeSet
		}
		if was.priority == 0 && j.Eligible != 0 && j.Eligible <= at {
			was.priority = j.Priority
		}
		if j.Start != 0 {
			j.NodeSet, j.AtLimit, j.Priority = was.nodeSet, was.atLimit, was.priority
		}
		if was.nodeSet != "" || was.gpus > 0 || was.licences != "" || was.atLimit || was.priority != 0 {
			p[key] = was
		} else {
			delete(p, key)
		}
	}
	maps.DeleteFunc(p, func(_ workload.Submission, was apart) bool { return was.at < at-day })
	return queue
}

// mark sets NodeSet, GPUs, Licences, AtLimit and Priority of jobs of accounting.
func (p shown) mark(jobs []workload.Job) {
	for i := range jobs {
		was, seen := p[jobs[i].Submission()]
		if seen {
			jobs[i].NodeSet, jobs[i].GPUs = was.nodeSet, max(jobs[i].GPUs, was.gpus)
			jobs[i].Licences = cmp.Or(was.licences, jobs[i].Licences)
		}
		jobs[i].AtLimit, jobs[i].Priority = was.atLimit || jobs[i].AtLimit, was.priority
	}
}
