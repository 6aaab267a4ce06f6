package twin

import (
	"cmp"
	"math/rand/v2"
	"slices"

	"github.com/varq-project/varq/predictor/cluster/rollout"
	"github.com/varq-project/varq/predictor/workload"
)

// Snapshot is a pool and its queue at a moment, with which a rollout begins. Jobs run for
// the medians of their predicted run times until Draw draws others.
type Snapshot struct {
	Now         int64
	Procs, Free int32 // processors in all, as the Twin believes, and those that no job uses
	Policy      rollout.Policy
	Running     []rollout.Running // in the order of Planned
	// in the order of Submit, without jobs that are AtLimit, or QOSFull with another QOS
	Pending []rollout.Task

	twin *Twin
	stage
	used        int32        // Procs - Free
	full        []string     // the QOS of the jobs that were left out because they are QOSFull
	runningJobs []runningJob // of Running
	waitingJobs []waitingJob // of Pending
	was         int          // where in Pending the job was that is left out, or -1
	arrays      arrays
	// rest are processors that waiting jobs have a share of, and that count as no job's yet.
	rest float64
	// narrow are the processors that more waiting jobs of a partition may have.
	narrow map[*partition]float64
	tasks  []rollout.Task // scratch
	ends   []rollout.Running
	coming [1]int32
}

// runningJob is a job of a Snapshot that runs.
type runningJob struct {
	*job
	procs   int32   // of the snapshot's that it has
	age     int64   // seconds
	planned int64   // when it reaches its limit, or overrun seconds from now if it has
	endedBy float64 // probability, as predicted, of an end by now
	then    int64   // tasks of its array that follow it, one after another
}

// overrun is how long, in seconds, a job that has outlived its limit is expected to run
// on.
const overrun = 60

// Snapshot returns the pool that a request would run on, with at least as many processors
// as the request needs. It leaves out the job named by id, which is 0 for none. It is valid
// until the next call of a method of the Twin.
func (t *Twin) Snapshot(r *workload.Request, now, id int64) *Snapshot {
	s := &t.snapshot
	s.load(t, r, now)
	s.without(id)
	s.assume(hypotheses[t.believed(s.pool)], s.keeps(s.in.takes(r), &r.Size))
	return s
}

// load fills the snapshot with the pool that a request would run on and its jobs. The policy and
// the size of the pool are left to assume.
func (s *Snapshot) load(t *Twin, r *workload.Request, now int64) {
	s.Now, s.twin, s.stage = now, t, t.partitions.stage(t.partitions.at(r.Place()))
	s.runningJobs, s.waitingJobs = s.runningJobs[:0], s.waitingJobs[:0]
	s.used, s.rest, s.full = 0, 0, s.full[:0]
	clear(s.narrow)
	s.arrays.reset()
	for j := range t.queue.Running() {
		if k := t.job(j); t.partitions.pool(k.in) == s.pool {
			procs, age, planned := s.part(k, j.On), max(0, now-k.Start), k.Start+k.Limit
			if procs == 0 {
				continue
			}
			if planned <= now {
				planned = now + overrun
			}
			running := runningJob{job: k, procs: procs, age: age, planned: planned, endedBy: t.endedBy(k, age)}
			running.then = s.arrays.follow(t.queue, j)
			if running.planned += running.then * k.Limit; s.isApart(j.On, running.planned) {
				continue
			}
			s.runningJobs = append(s.runningJobs, running)
			s.used += procs
		}
	}
	slices.SortFunc(s.runningJobs, func(a, b runningJob) int {
		return cmp.Or(cmp.Compare(a.planned, b.planned), cmp.Compare(a.ID, b.ID))
	})
	s.Running = s.Running[:0]
	for i := range s.runningJobs {
		k := &s.runningJobs[i]
		s.Running = append(s.Running, rollout.Running{Planned: k.planned, End: k.end(now, .5), Procs: k.procs, Place: -1})
	}
	for j := range t.queue.Pending() {
		if !j.Precedes(r.QOS) {
			if j.QOSFull && !slices.Contains(s.full, j.QOS) {
				s.full = append(s.full, j.QOS)
			}
			continue
		}
		if k := t.job(j); t.partitions.pool(k.in) == s.pool {
			t.renew(k)
			s.arrays.add(s, j, k)
		}
	}
	s.Pending = s.Pending[:0]
	for i := range s.waitingJobs {
		w := &s.waitingJobs[i]
		s.Pending = append(s.Pending, rollout.Task{
			Submit: min(w.Submit, now), Limit: w.depth * w.Limit, Run: w.run(.5), Procs: w.procs, Rank: t.rank(w.class), Priority: w.priority, Count: w.count(),
		})
	}
}

// assume gives the pool the policy and the size of a hypothesis. The size is at least the
// processors in use and those requested. A waiting job that needs more than the size gets
// all processors.
func (s *Snapshot) assume(h hypothesis, requested int32) {
	s.Policy = h.Policy
	s.Procs = max(s.processors(h.size), requested, s.used)
	s.Free = s.Procs - s.used
	for i := range s.waitingJobs {
		s.Pending[i].Procs = min(s.waitingJobs[i].procs, s.Procs)
	}
}

// without removes the waiting job of an id, if there is one.
func (s *Snapshot) without(id int64) {
	is := func(w waitingJob) bool { return w.ID == id }
	s.was = -1
	if i := slices.IndexFunc(s.waitingJobs, is); i >= 0 {
		s.was = i
		n := 1 // of an array there may be more
		for i+n < len(s.waitingJobs) && is(s.waitingJobs[i+n]) {
			n++
		}
		s.waitingJobs = slices.Delete(s.waitingJobs, i, i+n)
		s.Pending = slices.Delete(s.Pending, i, i+n)
	}
}

// Draw draws the run time of each job from its distribution.
func (s *Snapshot) Draw(rng *rand.Rand) {
	for i := range s.runningJobs {
		s.Running[i].End = s.runningJobs[i].end(s.Now, rng.Float64())
	}
	for i := range s.waitingJobs {
		s.Pending[i].Run = s.waitingJobs[i].run(rng.Float64())
	}
}

// cautious lets each job run for the cautious quantile of its predicted run time.
func (s *Snapshot) cautious() {
	for i := range s.runningJobs {
		s.Running[i].End = s.runningJobs[i].end(s.Now, cautious)
	}
	for i := range s.waitingJobs {
		s.Pending[i].Run = s.waitingJobs[i].run(cautious)
	}
}

// Serves reports whether jobs of a place run on the pool.
func (s *Snapshot) Serves(place workload.Place) bool {
	p := &s.twin.partitions
	return p.pool(p.at(place)) == s.pool
}

// end returns when a running job ends, at the level q in [0,1) of the run times that it
// may still have.
func (r *runningJob) end(now int64, q float64) int64 {
	then, planned := r.then*r.length(q), r.planned-r.then*r.Limit
	if r.Start+r.Limit <= now {
		return planned + then
	}
	left := r.runtime.Quantile(r.endedBy+(1-r.endedBy)*q) - r.age
	return now + max(1, min(left, planned-now)) + then
}

// length returns how long a job runs, in seconds, at the level q in [0,1) of its run
// times.
func (k *job) length(q float64) int64 { return max(1, min(k.runtime.Quantile(q), k.Limit)) }
