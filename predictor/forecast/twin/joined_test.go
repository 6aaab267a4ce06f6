package twin

import (
	"testing"

	"github.com/varq-project/varq/predictor/cluster/rollout"
	"github.com/varq-project/varq/predictor/cluster/sched"
)

// TestJoined: a job that has joined the queue in the past has its place there by each policy, also
// among others that compare as equal.
func TestJoined(t *testing.T) {
	task := func(submit, limit int64, priority int64) rollout.Task {
		return rollout.Task{Submit: submit, Limit: limit, Run: limit, Procs: 1, Priority: priority}
	}
	s := &Snapshot{Now: 1000, Pending: []rollout.Task{task(100, 50, 9), task(200, 10, 5), task(200, 20, 5), task(300, 20, 9)}}
	for _, c := range []struct {
		name      string
		order     rollout.Order
		was       int
		task      rollout.Task
		at, ahead int
	}{
		{"first come", rollout.FCFS, -1, task(250, 20, 5), 3, 3},
		{"among equals, at the end", rollout.FCFS, -1, task(200, 20, 5), 3, 3},
		{"among equals, as it was", rollout.FCFS, 2, task(200, 20, 5), 2, 2},
		{"before all", rollout.FCFS, -1, task(50, 20, 5), 0, 0},
		{"by work", rollout.LWF, -1, task(50, 20, 5), 0, 1},
		{"by work, among equals", rollout.LWF, 3, task(250, 20, 5), 3, 2},
		{"by priority", rollout.Priority, -1, task(150, 20, 9), 1, 1},
	} {
		s.was = c.was
		if at, ahead := s.joined(rollout.Policy{Order: c.order, Backfill: sched.EASY}, &c.task); at != c.at || ahead != c.ahead {
			t.Errorf("%s: at %d with %d ahead, want %d and %d", c.name, at, ahead, c.at, c.ahead)
		}
	}
}
