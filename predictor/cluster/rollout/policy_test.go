package rollout_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/varq-project/varq/predictor/cluster/rollout"
)

// someTasks returns tasks of which some compare as equal.
func someTasks(n int, r *rand.Rand) []rollout.Task {
	tasks := make([]rollout.Task, n)
	for i := range tasks {
		tasks[i] = rollout.Task{
			Submit: r.Int64N(int64(n)), Limit: 600 << r.IntN(8), Run: int64(i), Procs: 1 << r.IntN(6),
			Rank: int8(r.IntN(3) - 1), Priority: r.Int64N(8) - 2, Count: uint16(r.IntN(4)),
		}
	}
	return tasks
}

// TestSort: Sort sorts by Compare, and is stable.
func TestSort(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for n := range 150 {
		for order := range rollout.Order(rollout.Orders) {
			policy, tasks := rollout.Policy{Order: order}, someTasks(n, r)
			want := slices.Clone(tasks)
			if order != rollout.FCFS {
				slices.SortStableFunc(want, policy.Compare)
			}
			if policy.Sort(tasks); !slices.Equal(tasks, want) {
				t.Fatalf("%v of %d tasks:\n%v, want\n%v", policy, n, tasks, want)
			}
		}
	}
}

// BenchmarkSort sorts 100 tasks into the order of each policy but the first.
func BenchmarkSort(b *testing.B) {
	tasks := someTasks(100, rand.New(rand.NewPCG(1, 1)))
	scratch := make([]rollout.Task, len(tasks))
	for _, order := range []rollout.Order{rollout.LWF, rollout.Priority} {
		policy := rollout.Policy{Order: order}
		b.Run(policy.String(), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				copy(scratch, tasks)
				policy.Sort(scratch)
			}
		})
	}
}
