package twin

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/varq-project/varq/predictor/cluster/rollout"
	"github.com/varq-project/varq/predictor/workload"
)

// TestGather: the Points of jobs that wait are the same whether they are asked about one by one or
// together.
func TestGather(t *testing.T) {
	for _, n := range []int{3, 40, 400} {
		w, now := busy(n, 17)
		var jobs []workload.Job
		for j := range w.queue.Pending() {
			jobs = append(jobs, j.Job)
		}
		ask := func(j *workload.Job) Point { return w.PointAt(&j.Request, now, j.Since(), j.ID) }
		var alone []Point
		for i := range jobs {
			alone = append(alone, ask(&jobs[i]))
		}
		w.Gather(now)
		for i := range jobs {
			if diff := cmp.Diff(alone[i], ask(&jobs[i])); diff != "" {
				t.Fatalf("%d jobs, job %d: %s", n, jobs[i].ID, diff)
			}
		}
		if len(w.crowd.of) == 0 {
			t.Errorf("%d jobs: none were asked about together", n)
		}
		other := jobs[len(jobs)-1]
		other.Limit /= 2
		shorter := ask(&other)
		w.crowd = crowd{}
		if diff := cmp.Diff(ask(&other), shorter); diff != "" {
			t.Errorf("another request: %s", diff)
		}
		w.Gather(now)
		ask(&jobs[0])
		w.Submitted(&workload.Job{ID: 1_000_000, Request: jobs[0].Request, Submit: now, Eligible: now})
		if w.crowd.of != nil {
			t.Error("the Points of before are still there")
		}
	}
}

// TestAheadOfAll: the work ahead of each task is that of all others that do not go after it.
func TestAheadOfAll(t *testing.T) {
	s := &Snapshot{Now: 100, Running: []rollout.Running{{End: 150, Procs: 2}}, Pending: []rollout.Task{
		{Procs: 1, Run: 30, Priority: 5}, {Procs: 2, Run: 10, Priority: 9}, {Procs: 1, Run: 7}, {Procs: 4, Run: 3, Priority: 5}, {Procs: 3, Run: 3, Priority: 2},
	}}
	s.Procs = 2
	all := s.Pending
	got := s.aheadOfAll()
	for i := range all {
		s.Pending = slices.Delete(slices.Clone(all), i, i+1)
		if want := s.ahead(&all[i]); got[i] != want {
			t.Errorf("task %d: %d, want %d", i, got[i], want)
		}
	}
}
