package ledger

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/varq-project/varq/predictor/api"
)

// An array claims its nodes task by task: those that have started run where they are, and the rest
// claims what is still missing. The task that is not promised may have nodes, too.
func TestTasks(t *testing.T) {
	l, ctx := open(t, filepath.Join(t.TempDir(), "ledger.db")), t.Context()
	r := promise("aaaaaaaaaaaa", "alice", 10_000)
	r.Array, r.Tasks, r.Nodes, r.CPUs, r.TasksNodes = api.Array{Tasks: 9}, 8, 1, 4, 2
	mustPromise(t, l, r)
	if err := l.Bind(ctx, r.ID, "alice", 7, 100, 100, true); err != nil {
		t.Fatal(err)
	}
	claims := func() (cpus, nodes int32, jobs []int64) {
		t.Helper()
		list, err := l.Claims(ctx, 200)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range list {
			cpus, jobs = cpus+c.CPUs, append(jobs, c.Job)
			if !c.Runs {
				nodes += c.Nodes
			}
		}
		return cpus, nodes, jobs
	}
	for _, step := range []struct {
		tasks       []TaskRun
		started     int32
		cpus, nodes int32
		jobs        []int64
	}{
		{nil, 0, 36, 3, []int64{7, 7}},
		{[]TaskRun{{Job: 8, Start: 150, Nodes: 1}, {Job: 9, Start: 140, Nodes: 1}}, 2, 36, 3, []int64{9, 8, 7, 7}},
		// 8 waits again, and then 9 is cancelled while it is held
		{[]TaskRun{{Job: 8}}, 1, 36, 3, []int64{9, 7, 7}},
		{[]TaskRun{{Job: 9, Start: 140, Gone: 190, Nodes: 1}, {Job: 10, Start: 160}, {Job: 11, Start: 160}, {Job: 12, Start: 160}}, 3, 36, 3, []int64{10, 11, 12, 7, 7}},
	} {
		if err := l.SetTasks(ctx, r.ID, step.tasks); err != nil {
			t.Fatal(err)
		}
		cpus, nodes, jobs := claims()
		if cpus != step.cpus || nodes != step.nodes || !cmp.Equal(jobs, step.jobs) {
			t.Errorf("after %+v: %d CPUs, %d nodes, jobs %v", step.tasks, cpus, nodes, jobs)
		}
		if e := one(t, l, Query{Plan: r.ID}); e.Started != step.started {
			t.Errorf("after %+v: %d have started", step.tasks, e.Started)
		}
	}
	e, _, err := l.OpenPlan(ctx, r.ID)
	if want := []TaskRun{{9, 140, 190, 1}, {10, 160, 0, 0}, {11, 160, 0, 0}, {12, 160, 0, 0}}; err != nil || !cmp.Equal(e.TaskRuns, want) {
		t.Errorf("%+v, %v", e.TaskRuns, err)
	}
}

// An array about whose end a promise is claims as much as can run at once.
func TestTasksAtOnce(t *testing.T) {
	l, ctx := open(t, filepath.Join(t.TempDir(), "ledger.db")), t.Context()
	r := promise("aaaaaaaaaaaa", "alice", 0)
	r.FinishBy, r.HoldUntil, r.Array, r.Tasks, r.AtOnce, r.Nodes, r.CPUs, r.TasksNodes = 10_000, 0, api.Array{Tasks: 100}, 100, 8, 1, 4, 2
	mustPromise(t, l, r)
	if err := l.Bind(ctx, r.ID, "alice", 7, 100, 100, true); err != nil {
		t.Fatal(err)
	}
	for started, want := range []int32{32, 32, 32} { // of four CPUs each
		list, err := l.Claims(ctx, 200)
		cpus := int32(0)
		for _, c := range list {
			cpus += c.CPUs
		}
		if err != nil || cpus != want {
			t.Errorf("%d tasks run: %d CPUs, %v", 4*started, cpus, err)
		}
		var more []TaskRun
		for i := range int64(4) {
			more = append(more, TaskRun{Job: 100 + 4*int64(started) + i, Start: 150, Nodes: 1})
		}
		if err := l.SetTasks(ctx, r.ID, more); err != nil {
			t.Fatal(err)
		}
	}
}
