package montecarlo

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/varq-project/varq/predictor/cluster/rollout"
	"github.com/varq-project/varq/predictor/cluster/sched"
	"github.com/varq-project/varq/test/synthetic"
)

// TestFutureAgainstRollout compares two starts of a job: that of a future, and that of a
// rollout that includes the job. The job comes last, and is last in the queue.
func TestFutureAgainstRollout(t *testing.T) {
	m, f := new(rollout.Machine), new(future)
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 2))
		policy := rollout.Policy{Order: rollout.Order(r.IntN(rollout.Orders)), Backfill: [...]sched.Backfill{sched.EASY, sched.NoBackfill}[r.IntN(2)]}
		s := synthetic.RandomScene(r, policy, r.IntN(100))
		asked := rollout.Task{Submit: s.Now + 100, Limit: 1 + r.Int64N(30), Run: 1, Procs: 1 + r.Int32N(s.Procs)}
		if policy.Order != rollout.FCFS {
			asked.Limit = 10_000 // the most work of all
		}
		f.reset(s.Procs)
		f.tasks, f.places = s.Tasks, s.BySubmission(0)
		f.starts = s.Starts(m, policy, f)
		got := f.start(policy, asked)

		place := policy.Place(s.Tasks, asked)
		with := s
		with.Tasks = slices.Insert(slices.Clone(s.Tasks), place, asked)
		if want := with.Starts(m, policy, nil)[place]; got != want {
			t.Fatalf("seed %d, %v: the %d. of %d starts at %d, simulated at %d", seed, policy, place, len(s.Tasks), got, want)
		}
	}
}
