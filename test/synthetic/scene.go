package synthetic

import (
	"cmp"
	"math/rand/v2"
	"slices"

	"github.com/varq-project/varq/predictor/cluster/rollout"
)

// Scene is a machine at one moment, with the tasks that wait and those that come later.
type Scene struct {
	Now     int64
	Procs   int32
	Free    int32
	Running []rollout.Running // by planned end
	Tasks   []rollout.Task    // in the order of the queue
}

// RandomScene returns a scene whose tasks have the order of the policy. Up to 149 tasks
// wait, and later tasks come after Now. Many times and sizes are equal.
func RandomScene(r *rand.Rand, policy rollout.Policy, later int) Scene {
	s := Scene{Now: 1000, Procs: 1 + r.Int32N(40)}
	s.Free = s.Procs
	for range r.IntN(30) {
		o := rollout.Running{Procs: 1 + r.Int32N(s.Procs), Place: -1}
		if o.Procs > s.Free {
			continue
		}
		o.Planned = s.Now + 1 + r.Int64N(30)
		o.End = s.Now + 1 + r.Int64N(o.Planned-s.Now)
		s.Free -= o.Procs
		s.Running = append(s.Running, o)
	}
	slices.SortFunc(s.Running, func(a, b rollout.Running) int { return cmp.Compare(a.Planned, b.Planned) })
	waiting := r.IntN(150)
	for i := range waiting + later {
		t := rollout.Task{Submit: s.Now, Limit: 1 + r.Int64N(30), Procs: 1 + r.Int32N(s.Procs)}
		if r.IntN(2) > 0 {
			t.Procs = 1 + t.Procs/8
		}
		t.Run = 1 + r.Int64N(t.Limit)
		if policy.Order == rollout.Priority {
			t.Priority = r.Int64N(20)
		}
		if i >= waiting {
			t.Submit = s.Now + r.Int64N(100)
		}
		s.Tasks = append(s.Tasks, t)
	}
	slices.SortStableFunc(s.Tasks, func(a, b rollout.Task) int { return cmp.Compare(a.Submit, b.Submit) })
	policy.Sort(s.Tasks)
	return s
}

// BySubmission returns the places of the tasks submitted at from or later, by submission.
func (s *Scene) BySubmission(from int64) (places []int32) {
	for i, t := range s.Tasks {
		if t.Submit >= from {
			places = append(places, int32(i))
		}
	}
	slices.SortStableFunc(places, func(a, b int32) int { return cmp.Compare(s.Tasks[a].Submit, s.Tasks[b].Submit) })
	return places
}

// Starts returns when m starts the tasks of the scene. to records the rollout; it may be
// nil.
func (s *Scene) Starts(m *rollout.Machine, policy rollout.Policy, to rollout.Recorder) []int64 {
	m.Load(policy.Backfill, s.Now, s.Free, s.Running, s.Tasks, s.BySubmission(s.Now+1), to)
	return m.Starts()
}
