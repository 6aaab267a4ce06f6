package twin

import (
	"cmp"
	"slices"
)

// snapshot is a machine and its queue at a moment. Run times in it are those that
// are expected: medians.
type snapshot struct {
	at      int64
	machine *machine
	used    int32 // processors that jobs run on
	procs   int32 // processors, as supposed
	free    int32
	running []occupant // in the order in which they are thought to end
	pending []task     // in the order in which they came
	ran     []ran      // of running
	waits   []*job     // of pending

	tasks []task // scratch
	ends  []occupant
}

// ran is what is known of how long a running job will run.
type ran struct {
	*job
	age     int64
	planned int64   // when it is thought to end
	passed  float64 // probability with which it would have ended by now
}

// overrun is how long, in seconds, a job is thought to run on that has outlived its
// limit.
const overrun = 60

// take takes the snapshot of the machine of a partition.
func (s *snapshot) take(t *Twin, in *partition, now int64) {
	s.at, s.machine = now, t.machines.machine(in)
	s.ran, s.waits = s.ran[:0], s.waits[:0]
	s.used = 0
	for j := range t.queue.Running() {
		if k := t.job(j); t.machines.machine(k.in) == s.machine {
			age, planned := max(0, now-k.Start), k.Start+k.Limit
			if planned <= now {
				planned = now + overrun
			}
			s.ran = append(s.ran, ran{k, age, planned, t.outlived(k, age)})
			s.used += k.Procs
		}
	}
	slices.SortFunc(s.ran, func(a, b ran) int {
		return cmp.Or(cmp.Compare(a.planned, b.planned), cmp.Compare(a.ID, b.ID))
	})
	s.running = s.running[:0]
	for i := range s.ran {
		k := &s.ran[i]
		s.running = append(s.running, occupant{k.planned, k.end(now, .5), k.Procs, -1})
	}
	for j := range t.queue.Pending() {
		if k := t.job(j); t.machines.machine(k.in) == s.machine {
			s.waits = append(s.waits, k)
		}
	}
	s.pending = s.pending[:0]
	for _, k := range s.waits {
		s.pending = append(s.pending, task{min(k.Submit, now), k.Limit, k.length(.5), k.Procs, k.class.rank()})
	}
}

// suppose gives the machine its size: at least as many processors as run jobs or are
// asked for. Jobs that ask for more take all.
func (s *snapshot) suppose(b supposition, asked int32) {
	s.procs = max(s.machine.procs[b.size], asked, s.used)
	s.free = s.procs - s.used
	for i, k := range s.waits {
		s.pending[i].procs = min(k.Procs, s.procs)
	}
}

// without leaves a job out that waits.
func (s *snapshot) without(id int64) {
	if i := slices.IndexFunc(s.waits, func(k *job) bool { return k.ID == id }); i >= 0 {
		s.waits = slices.Delete(s.waits, i, i+1)
		s.pending = slices.Delete(s.pending, i, i+1)
	}
}

// end returns when a running job ends that has the level q, 0 to 1, of those run
// times that it may still have.
func (r *ran) end(now int64, q float64) int64 {
	if r.Start+r.Limit <= now {
		return r.planned
	}
	left := r.told.Quantile(r.passed+(1-r.passed)*q) - r.age
	return now + max(1, min(left, r.planned-now))
}

// length returns how long a job runs, in seconds, that has the level q of run times.
func (k *job) length(q float64) int64 { return max(1, min(k.told.Quantile(q), k.Limit)) }

// kind is which run times jobs have in a simulation.
type kind uint8

const (
	expected kind = iota
	limits
)

// point simulates the queue once until a task starts that joins it now, and returns
// how long that takes, in seconds.
func (s *snapshot) point(c *cluster, policy Policy, asked task, kind kind) int64 {
	s.tasks = append(append(s.tasks[:0], s.pending...), asked)
	if policy.Order != FCFS {
		slices.SortStableFunc(s.tasks, policy.compare)
	}
	place := policy.place(s.tasks, asked) - 1
	ends := s.running
	if kind == limits {
		s.ends = append(s.ends[:0], s.running...)
		for i := range s.ends {
			s.ends[i].end = s.ends[i].planned
		}
		for i := range s.tasks {
			s.tasks[i].run = s.tasks[i].limit
		}
		ends = s.ends
	}
	c.backfill, c.record = policy.Backfill, nil
	c.load(s.at, s.free, ends, s.tasks, nil)
	return c.wait(place) - s.at
}
