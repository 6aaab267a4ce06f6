package montecarlo

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/varq-project/varq/predictor/cluster/rollout"
	"github.com/varq-project/varq/predictor/cluster/sched"
)

// scene is a machine at a moment, and what will come.
type scene struct {
	now     int64
	procs   int32
	free    int32
	running []rollout.Running
	tasks   []rollout.Task // in the order of the queue
}

// randomScene makes up a machine with its queue in the order of a policy. Many times
// and sizes are equal.
func randomScene(r *rand.Rand, policy rollout.Policy) scene {
	s := scene{now: 1000, procs: 1 + r.Int32N(40)}
	s.free = s.procs
	for range r.IntN(30) {
		o := rollout.Running{Procs: 1 + r.Int32N(s.procs), Place: -1}
		if o.Procs > s.free {
			continue
		}
		o.Planned = s.now + 1 + r.Int64N(30)
		o.End = s.now + 1 + r.Int64N(o.Planned-s.now)
		s.free -= o.Procs
		s.running = append(s.running, o)
	}
	slices.SortFunc(s.running, func(a, b rollout.Running) int { return cmp.Compare(a.Planned, b.Planned) })
	waiting := r.IntN(150)
	for i := range waiting + r.IntN(100) {
		t := rollout.Task{Submit: s.now, Limit: 1 + r.Int64N(30), Procs: 1 + r.Int32N(s.procs)}
		if r.IntN(2) > 0 {
			t.Procs = 1 + t.Procs/8
		}
		t.Run = 1 + r.Int64N(t.Limit)
		if i >= waiting {
			t.Submit = s.now + r.Int64N(100)
		}
		s.tasks = append(s.tasks, t)
	}
	slices.SortStableFunc(s.tasks, func(a, b rollout.Task) int { return cmp.Compare(a.Submit, b.Submit) })
	policy.Sort(s.tasks)
	return s
}

// bySubmission returns the places of the tasks submitted from a time on, by submission.
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
func (s *scene) starts(m *rollout.Machine, policy rollout.Policy, to rollout.Recorder) []int64 {
	m.Load(policy.Backfill, s.now, s.free, s.running, s.tasks, s.bySubmission(s.now+1), to)
	return m.Starts()
}

// TestFutureAgainstRollout asks futures without a job when it would start, and makes a
// rollout with it. Nobody comes later than the job, or behind it.
func TestFutureAgainstRollout(t *testing.T) {
	m, f := new(rollout.Machine), new(future)
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 2))
		policy := rollout.Policy{Order: rollout.Order(r.IntN(rollout.Orders)), Backfill: [...]sched.Backfill{sched.EASY, sched.NoBackfill}[r.IntN(2)]}
		s := randomScene(r, policy)
		asked := rollout.Task{Submit: s.now + 100, Limit: 1 + r.Int64N(30), Run: 1, Procs: 1 + r.Int32N(s.procs)}
		if policy.Order != rollout.FCFS {
			asked.Limit = 10_000 // the most work of all
		}
		f.reset(s.procs)
		f.tasks, f.places = s.tasks, s.bySubmission(0)
		f.starts = s.starts(m, policy, f)
		got := f.start(policy, asked)

		place := policy.Place(s.tasks, asked)
		with := s
		with.tasks = slices.Insert(slices.Clone(s.tasks), place, asked)
		if want := with.starts(m, policy, nil)[place]; got != want {
			t.Fatalf("seed %d, %v: the %d. of %d starts at %d, simulated at %d", seed, policy, place, len(s.tasks), got, want)
		}
	}
}
