package twin

import (
	"cmp"
	"math/rand/v2"
	"slices"

	"github.com/varq-project/varq/predictor/cluster/rollout"
	"github.com/varq-project/varq/predictor/workload"
)

// Snapshot is a machine and its queue at a moment, as a rollout begins with them. Run
// times are the medians of what is predicted, until Draw draws others.
type Snapshot struct {
	Now         int64
	Procs, Free int32 // processors in all, as the Twin believes, and those that no job uses
	Policy      rollout.Policy
	Running     []rollout.Running // in the order of Planned
	Pending     []rollout.Task    // in the order of Submit

	twin    *Twin
	machine *machine
	used    int32          // Procs - Free
	active  []active       // of Running
	waiting []*job         // of Pending
	tasks   []rollout.Task // scratch
	ends    []rollout.Running
}

// active is what is known of how long a running job runs.
type active struct {
	*job
	age     int64
	planned int64   // when it reaches its limit
	passed  float64 // probability with which it would have ended by now
}

// overrun is how long, in seconds, a job is expected to run on that has outlived its
// limit.
const overrun = 60

// Snapshot returns the machine that a request would run on, with at least as many
// processors as the request needs. It holds until the next call of any method.
func (t *Twin) Snapshot(r *workload.Request, now int64) *Snapshot {
	s := &t.snapshot
	s.take(t, t.machines.of(r.Partition), now)
	s.suppose(hypotheses[s.machine.best], r.Procs())
	return s
}

// take takes the snapshot of the machine of a partition, but for what is supposed.
func (s *Snapshot) take(t *Twin, in *partition, now int64) {
	s.Now, s.twin, s.machine = now, t, t.machines.machine(in)
	s.active, s.waiting = s.active[:0], s.waiting[:0]
	s.used = 0
	for j := range t.queue.Running() {
		if k := t.job(j); t.machines.machine(k.in) == s.machine {
			age, planned := max(0, now-k.Start), k.Start+k.Limit
			if planned <= now {
				planned = now + overrun
			}
			s.active = append(s.active, active{k, age, planned, t.outlived(k, age)})
			s.used += k.Procs
		}
	}
	slices.SortFunc(s.active, func(a, b active) int {
		return cmp.Or(cmp.Compare(a.planned, b.planned), cmp.Compare(a.ID, b.ID))
	})
	s.Running = s.Running[:0]
	for i := range s.active {
		k := &s.active[i]
		s.Running = append(s.Running, rollout.Running{Planned: k.planned, End: k.end(now, .5), Procs: k.Procs, Place: -1})
	}
	for j := range t.queue.Pending() {
		if k := t.job(j); t.machines.machine(k.in) == s.machine {
			s.waiting = append(s.waiting, k)
		}
	}
	s.Pending = s.Pending[:0]
	for _, k := range s.waiting {
		s.Pending = append(s.Pending, rollout.Task{
			Submit: min(k.Submit, now), Limit: k.Limit, Run: k.length(.5), Procs: k.Procs, Rank: k.class.rank(),
		})
	}
}

// suppose gives the machine a policy and a size: at least the processors in use, and
// those of a request. Jobs that need more get all.
func (s *Snapshot) suppose(h hypothesis, requested int32) {
	s.Policy = h.Policy
	s.Procs = max(s.machine.procs[h.size], requested, s.used)
	s.Free = s.Procs - s.used
	for i, k := range s.waiting {
		s.Pending[i].Procs = min(k.Procs, s.Procs)
	}
}

// without leaves out a job that waits.
func (s *Snapshot) without(id int64) {
	if i := slices.IndexFunc(s.waiting, func(k *job) bool { return k.ID == id }); i >= 0 {
		s.waiting = slices.Delete(s.waiting, i, i+1)
		s.Pending = slices.Delete(s.Pending, i, i+1)
	}
}

// Draw draws the run times of all jobs from what is predicted of each.
func (s *Snapshot) Draw(rng *rand.Rand) {
	for i := range s.active {
		s.Running[i].End = s.active[i].end(s.Now, rng.Float64())
	}
	for i, k := range s.waiting {
		s.Pending[i].Run = k.length(rng.Float64())
	}
}

// Serves reports whether a partition's jobs run on the machine.
func (s *Snapshot) Serves(partition string) bool {
	p := &s.twin.machines
	return p.machine(p.of(partition)) == s.machine
}

// end returns when a running job ends, at the level q in [0,1) of the run times that it
// may still have.
func (a *active) end(now int64, q float64) int64 {
	if a.Start+a.Limit <= now {
		return a.planned
	}
	left := a.runtime.Quantile(a.passed+(1-a.passed)*q) - a.age
	return now + max(1, min(left, a.planned-now))
}

// length returns how long a job runs, in seconds, at the level q in [0,1) of its run
// times.
func (k *job) length(q float64) int64 { return max(1, min(k.runtime.Quantile(q), k.Limit)) }
