package sizing

import (
	"cmp"
	"slices"

	"github.com/varq-project/varq/predictor/cluster/rollout"
	"github.com/varq-project/varq/predictor/cluster/sched"
)

// Oracle knows how long jobs wait: it simulates the cluster from now on with the true run times of
// the jobs that run and wait, and with those that will come, in the size that their users asked
// for. So it is exact if no other job chooses its size. A job that takes what is free counts with
// the least that it takes.
type Oracle struct {
	machine rollout.Machine
	running []rollout.Running
	tasks   []rollout.Task
	coming  []int32
}

// foreseen is how many jobs that will come the Oracle first looks at. It looks at more if they are
// not enough.
const foreseen = 256

// Wait returns how long j, submitted now on some processors, waits.
func (o *Oracle) Wait(c *Cluster, j *Job, procs int32) int64 {
	o.running, o.tasks, o.coming = o.running[:0], o.tasks[:0], o.coming[:0]
	for _, e := range c.running {
		o.running = append(o.running, rollout.Running{Planned: e.planned(), End: e.end(), Procs: e.shape.Procs, Place: -1})
	}
	slices.SortFunc(o.running, func(a, b rollout.Running) int { return cmp.Compare(a.Planned, b.Planned) })
	for _, e := range c.waiting {
		o.tasks = append(o.tasks, task(e.Job, e.At(e.least())))
	}
	place := len(o.tasks)
	o.tasks = append(o.tasks, task(j, j.At(procs)))
	later := c.later
	for seen, most := 0, foreseen; ; most *= 4 {
		for ; seen < min(most, len(later)); seen++ {
			o.coming = append(o.coming, int32(len(o.tasks)))
			o.tasks = append(o.tasks, task(&later[seen], later[seen].Asked))
		}
		o.machine.Load(sched.EASY, c.now, c.free, o.running, o.tasks, o.coming, nil)
		start := o.machine.StartOf(place)
		if seen == len(later) || start < later[seen].Submit {
			return start - c.now
		}
	}
}

func task(j *Job, s Shape) rollout.Task {
	return rollout.Task{Submit: j.Submit, Limit: s.Limit, Run: s.Run, Procs: s.Procs}
}
