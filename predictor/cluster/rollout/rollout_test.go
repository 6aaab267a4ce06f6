package rollout

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
	running []Running
	tasks   []Task // in the order of the queue
	coming  []int32
}

// randomScene makes up a machine with its queue in the order of a policy. Many times
// and sizes are equal.
func randomScene(r *rand.Rand, policy Policy, later int) scene {
	s := scene{now: 1000, procs: 1 + r.Int32N(40)}
	s.free = s.procs
	for range r.IntN(30) {
		o := Running{Procs: 1 + r.Int32N(s.procs), Place: -1}
		if o.Procs > s.free {
			continue
		}
		o.Planned = s.now + 1 + r.Int64N(30)
		o.End = s.now + 1 + r.Int64N(o.Planned-s.now)
		s.free -= o.Procs
		s.running = append(s.running, o)
	}
	slices.SortFunc(s.running, func(a, b Running) int { return cmp.Compare(a.Planned, b.Planned) })
	waiting := r.IntN(150)
	for i := range waiting + later {
		t := Task{Submit: s.now, Limit: 1 + r.Int64N(30), Procs: 1 + r.Int32N(s.procs)}
		if r.IntN(2) > 0 {
			t.Procs = 1 + t.Procs/8
		}
		t.Run = 1 + r.Int64N(t.Limit)
		if i >= waiting {
			t.Submit = s.now + r.Int64N(100)
		}
		s.tasks = append(s.tasks, t)
	}
	slices.SortStableFunc(s.tasks, func(a, b Task) int { return cmp.Compare(a.Submit, b.Submit) })
	policy.Sort(s.tasks)
	s.coming = s.bySubmission(s.now + 1)
	return s
}

// bySubmission returns the places of the tasks submitted from a time on, by
// submission.
func (s *scene) bySubmission(from int64) (places []int32) {
	for i, t := range s.tasks {
		if t.Submit >= from {
			places = append(places, int32(i))
		}
	}
	slices.SortStableFunc(places, func(a, b int32) int { return cmp.Compare(s.tasks[a].Submit, s.tasks[b].Submit) })
	return places
}

// starts lets a machine live through the scene.
func (s *scene) starts(m *Machine, policy Policy) []int64 {
	m.Load(policy.Backfill, s.now, s.free, s.running, s.tasks, s.coming, nil)
	return m.Starts()
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
		m.Place(&sched.Job{ID: int64(-1 - i), Start: s.now, Limit: o.Planned - s.now, Run: o.End - s.now, Procs: o.Procs})
	}
	for i, t := range s.tasks {
		// The number makes the order of equals the same.
		m.Submit(&sched.Job{ID: int64(i), Submit: t.Submit, Limit: t.Limit, Run: t.Run, Procs: t.Procs})
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

// TestAgainstSim holds rollouts against the simulator, which has another
// test of its own against a naive one.
func TestAgainstSim(t *testing.T) {
	m := new(Machine)
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 1))
		policy := Policy{Order(r.IntN(Orders)), [...]sched.Backfill{sched.EASY, sched.NoBackfill}[r.IntN(2)]}
		s := randomScene(r, policy, r.IntN(100))
		got, want := s.starts(m, policy), s.simulated(policy)
		if !slices.Equal(got, want) {
			t.Fatalf("seed %d, %v: %d tasks on %d processors\nstart at %v\nsim:      %v", seed, policy, len(s.tasks), s.procs, got, want)
		}
	}
}
