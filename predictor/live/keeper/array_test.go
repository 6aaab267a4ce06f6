package keeper

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cluster/limits"
	"github.com/varq-project/varq/predictor/live/desk/desktest"
	"github.com/varq-project/varq/predictor/live/ledger"
	"github.com/varq-project/varq/predictor/live/look"
	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/workload"
)

// manyTasks promises an array of n tasks, and returns the queue with them: the first started of
// them have started.
func manyTasks(tb testing.TB, s *site, n, started int) []slurm.QueueEntry {
	tb.Helper()
	const array = 100_000
	plan := api.Plan{
		ID: "aaaaaaaaaaaa", BeginTime: desktest.Epoch, BeginBy: desktest.Epoch + 90_000, HoldUntil: desktest.Epoch + 90_000, Slot: desktest.Epoch + 90_000,
		TimeLimit: 93_600, WorkLimit: 3600, Earliest: desktest.Epoch, Prob: .9, Estimate: .95, Array: api.Array{Tasks: int32(n)}, Tasks: int32(n),
	}
	request := workload.Request{User: "alice", Partition: "main", Size: workload.Size{Nodes: 1, CPUs: 1}, Limit: plan.TimeLimit}
	job := workload.Job{Array: array, Submit: desktest.Epoch, Eligible: desktest.Epoch, State: workload.Pending, Comment: api.CommentPrefix + plan.ID, Request: request}
	var queue []slurm.QueueEntry
	for i := range started {
		j := job
		j.ID, j.Start, j.State = array+1+int64(i), desktest.Epoch+1, workload.Running
		queue = append(queue, slurm.QueueEntry{Job: j, ArrayJob: array})
	}
	if started < n {
		job.ID, job.Tasks = array, int32(n-started)
		queue = append(queue, slurm.QueueEntry{Job: job, ArrayJob: array})
	}
	r := &api.Reservation{Plan: plan, User: "alice", Partition: "main", Size: request.Size, TasksNodes: int32(n), Promised: desktest.Epoch}
	if err := errors.Join(s.Ledger.Promise(tb.Context(), r, desktest.Epoch), s.Ledger.Bind(tb.Context(), plan.ID, "alice", array, desktest.Epoch, desktest.Epoch, true)); err != nil {
		tb.Fatal(err)
	}
	return queue
}

// What is recorded of an array's tasks is written once, and varq status tells how many have
// started.
func TestWatchArray(t *testing.T) {
	s := newSite(t)
	queue := manyTasks(t, s, 1000, 600)
	for range 3 {
		s.Clock += 10
		if err := s.keeper.Watch(t.Context(), look.New(queue, s.Clock)); err != nil {
			t.Fatal(err)
		}
	}
	e, open, err := s.Ledger.OpenPlan(t.Context(), "aaaaaaaaaaaa")
	if err != nil || !open || e.Started != 600 || e.Waiting() != 400 || e.Progress.State != api.StatePending || e.Progress.Start != 0 {
		t.Errorf("open %v, %d have started, %+v, %v", open, e.Started, e.Progress, err)
	}
}

// Tasks that their user cancels while they wait, or while nodes are held for them, are no part of
// the promise any more, nor of what it costs or claims.
func TestWatchCancelledTasks(t *testing.T) {
	s := newSite(t)
	queue := manyTasks(t, s, 10, 4)
	again := func() ledger.Entry {
		t.Helper()
		s.Clock += 10
		if err := s.keeper.Watch(t.Context(), look.New(queue, s.Clock)); err != nil {
			t.Fatal(err)
		}
		e, open, err := s.Ledger.OpenPlan(t.Context(), "aaaaaaaaaaaa")
		if err != nil || !open {
			t.Fatalf("open %v, %v", open, err)
		}
		return e
	}
	if e := again(); e.Tasks != 10 || e.Started != 4 {
		t.Errorf("of %d tasks, %d have started", e.Tasks, e.Started)
	}
	queue[len(queue)-1].Tasks = 3 // of 6 that wait
	if e := again(); e.Tasks != 7 || e.Waiting() != 3 || !strings.HasPrefix(e.Note, "tasks of it were cancelled; the promise is now about 7 instead of 10") {
		t.Errorf("of %d tasks, %d wait: %s", e.Tasks, e.Waiting(), e.Note)
	}
	queue = queue[1:] // one that has started
	if e := again(); e.Tasks != 6 {
		t.Errorf("of %d tasks, %d wait: %s", e.Tasks, e.Waiting(), e.Note)
	}
	if e := again(); e.Tasks != 6 {
		t.Errorf("of %d tasks, %d wait: %s", e.Tasks, e.Waiting(), e.Note)
	}
	claims, err := s.Ledger.Claims(t.Context(), s.Clock)
	cpus := int32(0)
	for _, c := range claims {
		cpus += c.CPUs
	}
	if err != nil || cpus != 6 {
		t.Errorf("%d CPUs are claimed, %v", cpus, err)
	}
}

// Of a task that its user has moved to after the deadline, the event is one, and the forecast is 0
// at each look.
func TestWatchMovedTask(t *testing.T) {
	s := newSite(t)
	partitions := s.Premises.Limits().Partitions
	main := partitions["main"]
	main.MaxTime = limits.None
	partitions["main"] = main
	rest := manyTasks(t, s, 4, 0)[0]
	rest.Account, rest.Tasks, rest.ArrayTasks = "phys", 3, "0-1,3"
	moved := rest
	moved.ID, moved.Tasks, moved.ArrayTasks, moved.Eligible = rest.ID+2, 1, "2", desktest.Epoch+90_060
	queue := []slurm.QueueEntry{rest, moved}
	for range 4 {
		s.Clock++
		slices.Reverse(queue)
		if err := s.keeper.Watch(t.Context(), look.New(queue, s.Clock)); err != nil {
			t.Fatal(err)
		}
		list, err := s.records.Reservations(t.Context(), "alice", api.ReservationsQuery{Job: rest.ID})
		if err != nil || len(list) != 1 {
			t.Fatal(list, err)
		}
		const why = "the begin time of its task 2 is 2027-01-16T09:01:00Z, after the deadline"
		if r := list[0]; forecastOf(&r) != 0 || r.Obstacle != why || len(r.Events) != 2 {
			t.Errorf("probability %v: %s; %+v", forecastOf(&r), r.Obstacle, r.Events)
		}
	}
}

// BenchmarkWatchArray is a look at the queue while 1,000 tasks of an array have started, and their
// nodes are held.
func BenchmarkWatchArray(b *testing.B) {
	s := newSite(b)
	queue := manyTasks(b, s, 1000, 1000)
	for b.Loop() {
		s.Clock += 10
		if err := s.keeper.Watch(b.Context(), look.New(queue, s.Clock)); err != nil {
			b.Fatal(err)
		}
	}
}
