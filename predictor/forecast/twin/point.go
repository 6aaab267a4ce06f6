package twin

import (
	"math"

	"github.com/varq-project/varq/predictor/cluster/sched"
	"github.com/varq-project/varq/predictor/workload"
)

// Point is how long a job would wait, in seconds, if everything went as thought.
type Point struct {
	Expected int64 // all jobs run as long as is expected of them: the median
	Limits   int64 // all jobs run for as long as their limits
	// ByOrder is Expected by each Order, with EASY backfilling. No machine follows one
	// to the letter, and where they differ it tells much which is nearest.
	ByOrder [Orders]int64
}

// Point simulates the queue a few times until a request would start that joins it now, as
// if no other job came. With n jobs in the queue it takes O(n log n), of which the
// larger part goes to their expected run times.
func (t *Twin) Point(r *workload.Request, now int64) (Point, Evidence) {
	s := &t.now
	asked := t.asked(r, now)
	s.take(t, t.machines.of(r.Partition), now)
	b := t.believed(s.machine)
	s.suppose(b, asked.procs)
	p := Point{
		Expected: s.point(&t.cluster, b.Policy, asked, expected),
		Limits:   s.point(&t.cluster, b.Policy, asked, limits),
	}
	for i := range p.ByOrder {
		p.ByOrder[i] = p.Expected
		if policy := (Policy{Order(i), sched.EASY}); policy != b.Policy {
			p.ByOrder[i] = s.point(&t.cluster, policy, asked, expected)
		}
	}
	return p, s.evidence(b.Policy, 2+Orders)
}

// asked is the task of a request that joins the queue now.
func (t *Twin) asked(r *workload.Request, now int64) task {
	limit := t.limit(r)
	return task{submit: now, limit: limit, run: limit, procs: r.Procs(), rank: t.classOf(r).rank()}
}

// try finds out how long a job that has just been submitted would wait by each
// supposition, now and then.
func (t *Twin) try(j *workload.Job) guesses {
	in := t.machines.of(j.Partition)
	waiting, _ := t.queue.Len()
	if !t.machines.machine(in).due(waiting) {
		return nil
	}
	now := j.Since()
	asked := t.asked(&j.Request, now)
	t.now.take(t, in, now)
	t.now.without(j.ID)
	g := new([len(suppositions)]float64)
	for i, s := range suppositions {
		if t.options.Policy != nil && i%len(candidates) > 0 || t.options.Machine != nil && s.size > 0 {
			g[i] = math.Inf(1)
			continue
		}
		s = t.told(s)
		t.now.suppose(s, asked.procs)
		g[i] = float64(t.now.point(&t.cluster, s.Policy, asked, expected))
	}
	return g
}
