package twin

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/varq-project/varq/predictor/cluster/sched"
	"github.com/varq-project/varq/predictor/cluster/sim"
)

// scene is a machine at a moment, and what will come.
type scene struct {
	now     int64
	procs   int32
	free    int32
	running []occupant
	tasks   []task // in the order of the queue
	coming  []int32
}

// randomScene makes up a machine with its queue in the order of a policy. Many times
// and sizes are equal.
func randomScene(r *rand.Rand, policy Policy, later int) scene {
	s := scene{now: 1000, procs: 1 + r.Int32N(40)}
	s.free = s.procs
	for range r.IntN(30) {
		o := occupant{procs: 1 + r.Int32N(s.procs), place: -1}
		if o.procs > s.free {
			continue
		}
		o.planned = s.now + 1 + r.Int64N(30)
		o.end = s.now + 1 + r.Int64N(o.planned-s.now)
		s.free -= o.procs
		s.running = append(s.running, o)
	}
	slices.SortFunc(s.running, func(a, b occupant) int { return cmp.Compare(a.planned, b.planned) })
	waiting := r.IntN(150)
	for i := range waiting + later {
		t := task{submit: s.now, limit: 1 + r.Int64N(30), procs: 1 + r.Int32N(s.procs)}
		if r.IntN(2) > 0 {
			t.procs = 1 + t.procs/8
		}
		t.run = 1 + r.Int64N(t.limit)
		if i >= waiting {
			t.submit = s.now + r.Int64N(100)
		}
		s.tasks = append(s.tasks, t)
	}
	slices.SortStableFunc(s.tasks, func(a, b task) int { return cmp.Compare(a.submit, b.submit) })
	if policy.Order != FCFS {
		slices.SortStableFunc(s.tasks, policy.compare)
	}
	s.coming = s.bySubmission(s.now + 1)
	return s
}

// bySubmission returns the places of the tasks submitted from a time on, by
// submission.
func (s *scene) bySubmission(from int64) (places []int32) {
	for i, t := range s.tasks {
		if t.submit >= from {
			places = append(places, int32(i))
		}
	}
	slices.SortStableFunc(places, func(a, b int32) int { return cmp.Compare(s.tasks[a].submit, s.tasks[b].submit) })
	return places
}

// starts lets a cluster live through the scene.
func (s *scene) starts(c *cluster, policy Policy) []int64 {
	c.backfill, c.record = policy.Backfill, nil
	c.load(s.now, s.free, s.running, s.tasks, s.coming)
	c.advance(sched.Never)
	return c.starts
}

// simulated lets a sim.Simulator live through the scene.
func (s *scene) simulated(policy Policy) []int64 {
	w := &witness{starts: make([]int64, len(s.tasks))}
	config := sched.Config{Procs: s.procs, Backfill: policy.Backfill}
	if policy.Order == LWF {
		config.Order = sched.LWF()
	}
	m := sim.New(config, w)
	m.Reset(s.now)
	for i, o := range s.running {
		m.Place(&sched.Job{ID: int64(-1 - i), Start: s.now, Limit: o.planned - s.now, Run: o.end - s.now, Procs: o.procs})
	}
	for i, t := range s.tasks {
		// The number makes the order of equals the same.
		m.Submit(&sched.Job{ID: int64(i), Submit: t.submit, Limit: t.limit, Run: t.run, Procs: t.procs})
	}
	m.Drain()
	return w.starts
}

// witness notes when the jobs of a simulation start.
type witness struct{ starts []int64 }

func (w *witness) Started(now int64, j *sched.Job)          { w.starts[j.ID] = now }
func (*witness) Reserved(_ int64, _ *sched.Job, _, _ int64) {}
func (*witness) Stopped(_ int64, _ *sched.Job)              {}
func (*witness) Ended(_ int64, _ *sched.Job)                {}

// TestClusterAgainstSim holds the cluster against the simulator, which has another
// test of its own against a naive one.
func TestClusterAgainstSim(t *testing.T) {
	c := new(cluster)
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 1))
		policy := candidates[r.IntN(len(candidates))]
		s := randomScene(r, policy, r.IntN(100))
		got, want := s.starts(c, policy), s.simulated(policy)
		if !slices.Equal(got, want) {
			t.Fatalf("seed %d, %v: %d tasks on %d processors\nstart at %v\nsim:      %v", seed, policy, len(s.tasks), s.procs, got, want)
		}
	}
}

// TestFutureAgainstCluster asks futures without a job when it would start, and
// simulates it with the others. Nobody comes later than the job, or behind it.
func TestFutureAgainstCluster(t *testing.T) {
	c, f, l := new(cluster), new(future), new(look)
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 2))
		policy := candidates[r.IntN(len(candidates))]
		s := randomScene(r, policy, r.IntN(100))
		asked := task{submit: s.now + 100, limit: 1 + r.Int64N(30), run: 1, procs: 1 + r.Int32N(s.procs)}
		if policy.Order != FCFS {
			asked.limit = 10_000 // the most work of all
		}
		f.clear()
		c.backfill, c.record = policy.Backfill, f
		c.load(s.now, s.free, s.running, s.tasks, s.coming)
		c.advance(sched.Never)
		f.lived(c, s.procs, s.bySubmission(0))
		got := l.start(f, policy, asked)

		place := policy.place(s.tasks, asked)
		with := s
		with.tasks = slices.Insert(slices.Clone(s.tasks), place, asked)
		with.coming = with.bySubmission(s.now + 1)
		if want := with.starts(c, policy)[place]; got != want {
			t.Fatalf("seed %d, %v: the %d. of %d starts at %d, simulated at %d", seed, policy, place, len(s.tasks), got, want)
		}
	}
}
