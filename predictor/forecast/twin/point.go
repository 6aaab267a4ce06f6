package twin

import (
	"math"

	"github.com/varq-project/varq/predictor/cluster/rollout"
	"github.com/varq-project/varq/predictor/cluster/sched"
	"github.com/varq-project/varq/predictor/workload"
)

// Point is how long a job would wait, in seconds, if no other job came.
type Point struct {
	Expected int64 // if every job runs for the median of what is predicted
	Limits   int64 // if every job runs for its limit
	// ByOrder is Expected by each order, with EASY backfilling. No machine follows one
	// to the letter; where they differ, it says much which of them comes nearest.
	ByOrder [rollout.Orders]int64
	// Policy is the one that the machine is believed to follow, and that Expected and
	// Limits follow.
	Policy rollout.Policy
}

// Point makes a few rollouts, each until a request starts that joins the queue now. With
// n jobs in the queue it takes O(n log n), most of it for the prediction of their run
// times.
func (t *Twin) Point(r *workload.Request, now int64) Point {
	s, task := t.Snapshot(r, now), t.Task(r, now)
	p := Point{
		Expected: s.wait(s.Policy, task, expected),
		Limits:   s.wait(s.Policy, task, limits),
		Policy:   s.Policy,
	}
	for i := range p.ByOrder {
		p.ByOrder[i] = p.Expected
		if policy := (rollout.Policy{Order: rollout.Order(i), Backfill: sched.EASY}); policy != s.Policy {
			p.ByOrder[i] = s.wait(policy, task, expected)
		}
	}
	return p
}

// lengths is which run times jobs have in a rollout.
type lengths uint8

const (
	expected lengths = iota
	limits
)

// wait makes a rollout until a task starts that joins the queue now, and returns how
// long that takes, in seconds.
func (s *Snapshot) wait(p rollout.Policy, task rollout.Task, l lengths) int64 {
	s.tasks = append(append(s.tasks[:0], s.Pending...), task)
	p.Sort(s.tasks)
	place := p.Place(s.tasks, task) - 1
	running := s.Running
	if l == limits {
		s.ends = append(s.ends[:0], s.Running...)
		for i := range s.ends {
			s.ends[i].End = s.ends[i].Planned
		}
		for i := range s.tasks {
			s.tasks[i].Run = s.tasks[i].Limit
		}
		running = s.ends
	}
	m := &s.twin.machine
	m.Load(p.Backfill, s.Now, s.Free, running, s.tasks, nil, nil)
	return m.StartOf(place) - s.Now
}

// try has every hypothesis predict the wait of a job that has just been submitted, if a
// trial is due.
func (t *Twin) try(j *workload.Job) trial {
	in := t.machines.of(j.Partition)
	waiting, _ := t.queue.Len()
	if !t.machines.machine(in).due(waiting) {
		return nil
	}
	now := j.Since()
	task, s := t.Task(&j.Request, now), &t.snapshot
	s.take(t, in, now)
	s.without(j.ID)
	waits := new([len(hypotheses)]float64)
	for i, h := range hypotheses {
		if t.machines.configured != nil && h.size > 0 {
			waits[i] = math.Inf(1)
			continue
		}
		s.suppose(h, task.Procs)
		waits[i] = float64(s.wait(h.Policy, task, expected))
	}
	return waits
}
