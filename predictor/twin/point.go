package twin

import "github.com/varq-project/varq/predictor/workload"

// Point is how long a job would wait, in seconds, if everything went as thought.
type Point struct {
	Expected int64 // all jobs run as long as is expected of them: the median
	Limits   int64 // all jobs run for as long as their limits
}

// Point simulates the queue twice until a request would start that joins it now, as
// if no other job came. With n jobs in the queue it takes O(n log n), of which the
// larger part goes to their expected run times.
func (t *Twin) Point(r *workload.Request, now int64) (Point, Evidence) {
	s := &t.now
	asked := t.asked(r, now)
	s.take(t, t.machines.of(r.Partition), asked.procs, now)
	policy := t.policy(s.machine)
	return Point{
		Expected: s.point(&t.cluster, policy, asked, expected),
		Limits:   s.point(&t.cluster, policy, asked, limits),
	}, s.evidence(policy, 2)
}

// asked is the task of a request that joins the queue now.
func (t *Twin) asked(r *workload.Request, now int64) task {
	limit := t.limit(r)
	return task{submit: now, limit: limit, run: limit, procs: procs(r)}
}

// try finds out how long a job that has just been submitted would wait by each
// policy, now and then.
func (t *Twin) try(j *workload.Job) guesses {
	in := t.machines.of(j.Partition)
	if t.options.Policy != nil || !t.machines.machine(in).due() {
		return nil
	}
	now := eligible(j)
	asked := t.asked(&j.Request, now)
	t.now.take(t, in, asked.procs, now)
	t.now.without(j.ID)
	g := new([len(candidates)]float64)
	for i, policy := range candidates {
		g[i] = float64(t.now.point(&t.cluster, policy, asked, expected))
	}
	return g
}
