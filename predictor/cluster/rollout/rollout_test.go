package rollout_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/varq-project/varq/predictor/cluster/rollout"
	"github.com/varq-project/varq/predictor/cluster/sched"
	"github.com/varq-project/varq/predictor/cluster/sim"
	"github.com/varq-project/varq/test/synthetic"
)

// simulated returns when a sim.Simulator starts the tasks of the scene.
func simulated(s *synthetic.Scene, policy rollout.Policy) []int64 {
	w := &witness{starts: make([]int64, len(s.Tasks))}
	config := sched.Config{Procs: s.Procs, Backfill: policy.Backfill}
	if policy.Order == rollout.LWF {
		config.Order = sched.LWF()
	}
	if policy.Order == rollout.Priority {
		config.Order = sched.Order{Key: func(_ int64, j *sched.Job) float64 { return -float64(s.Tasks[j.ID].Priority) }}
	}
	m := sim.New(config, w)
	m.Reset(s.Now)
	for i, o := range s.Running {
		m.Place(&sched.Job{ID: int64(-1 - i), Start: s.Now, Limit: o.Planned - s.Now, Run: o.End - s.Now, Procs: o.Procs})
	}
	for i, t := range s.Tasks {
		// Jobs of equal order start by ID, which is the order of the scene.
		m.Submit(&sched.Job{ID: int64(i), Submit: t.Submit, Limit: t.Limit, Run: t.Run, Procs: t.Procs})
	}
	m.Drain()
	return w.starts
}

// witness records when the jobs of a simulation start.
type witness struct{ starts []int64 }

func (w *witness) Started(now int64, j *sched.Job)          { w.starts[j.ID] = now }
func (*witness) Reserved(_ int64, _ *sched.Job, _, _ int64) {}
func (*witness) Stopped(_ int64, _ *sched.Job)              {}
func (*witness) Ended(_ int64, _ *sched.Job)                {}

// TestAgainstSim compares rollouts with package sim, whose own test compares it with a naive
// simulator.
func TestAgainstSim(t *testing.T) {
	m := new(rollout.Machine)
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 1))
		policy := rollout.Policy{Order: rollout.Order(r.IntN(rollout.Orders)), Backfill: [...]sched.Backfill{sched.EASY, sched.NoBackfill}[r.IntN(2)]}
		s := synthetic.RandomScene(r, policy, r.IntN(100))
		got, want := s.Starts(m, policy, nil), simulated(&s, policy)
		if !slices.Equal(got, want) {
			t.Fatalf("seed %d, %v: %d tasks on %d processors\nstart at %v\nsim:      %v", seed, policy, len(s.Tasks), s.Procs, got, want)
		}
	}
}
