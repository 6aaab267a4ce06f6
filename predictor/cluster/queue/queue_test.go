package queue

import (
	"iter"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/varq-project/varq/predictor/workload"
)

// naive is a queue that keeps plain slices.
type naive struct {
	pending, running []int64
	tasks            map[int64]int32
}

func (n *naive) waiting() (sum int) {
	for _, id := range n.pending {
		sum += int(max(1, n.tasks[id]))
	}
	return sum
}

func (n *naive) remove(id int64) {
	is := func(x int64) bool { return x == id }
	n.pending, n.running = slices.DeleteFunc(n.pending, is), slices.DeleteFunc(n.running, is)
}

func ids(jobs iter.Seq[*Job]) (list []int64) {
	for j := range jobs {
		list = append(list, j.ID)
	}
	return list
}

func TestAgainstSlices(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	var q Queue
	n := naive{tasks: map[int64]int32{}}
	for range 20_000 {
		j := workload.Job{ID: random.Int64N(40), Submit: 1, Start: 7, Tasks: random.Int32N(5)}
		switch random.IntN(4) {
		case 0:
			q.Submit(j)
			n.tasks[j.ID] = j.Tasks
			if !slices.Contains(n.pending, j.ID) {
				n.remove(j.ID)
				n.pending = append(n.pending, j.ID)
			}
		case 1:
			q.Start(j)
			n.remove(j.ID)
			n.running = append(n.running, j.ID)
		case 2:
			known := q.Job(j.ID)
			if q.Remove(j.ID) != known || q.Job(j.ID) != nil {
				t.Fatalf("job %d is still there", j.ID)
			}
			n.remove(j.ID)
		case 3:
			q.Change(&j)
			n.tasks[j.ID] = j.Tasks
		}
		if waiting, running := q.Count(); waiting != n.waiting() || running != len(n.running) {
			t.Fatalf("Count = %d, %d, want %d, %d", waiting, running, n.waiting(), len(n.running))
		}
		if got := ids(q.Pending()); !slices.Equal(got, n.pending) {
			t.Fatalf("pending %v, want %v", got, n.pending)
		}
		if got := ids(q.Running()); !slices.Equal(got, n.running) {
			t.Fatalf("running %v, want %v", got, n.running)
		}
		if pending, running := q.Len(); pending != len(n.pending) || running != len(n.running) {
			t.Fatalf("Len = %d, %d, want %d, %d", pending, running, len(n.pending), len(n.running))
		}
	}
}

// TestChange: what waits may request something else, what runs has another limit only.
func TestChange(t *testing.T) {
	var q Queue
	q.Submit(workload.Job{ID: 1})
	q.Start(workload.Job{ID: 2, Start: 5})
	for id, want := range map[int64]workload.Request{1: {Partition: "main", Limit: 60}, 2: {Limit: 60}} {
		q.Change(&workload.Job{ID: id, Request: workload.Request{Partition: "main", Limit: 60}})
		if got := q.Job(id).Request; got != want {
			t.Errorf("job %d: %+v, want %+v", id, got, want)
		}
	}
}

func TestStates(t *testing.T) {
	var q Queue
	if j := q.Submit(workload.Job{ID: 1, Start: 5, End: 6}); j.State != workload.Pending || j.Start != 0 || j.End != 0 {
		t.Errorf("waits: %+v", j.Job)
	}
	if j := q.Start(workload.Job{ID: 1, Start: 5, End: 6}); j.State != workload.Running || j.Start != 5 || j.End != 0 {
		t.Errorf("runs: %+v", j.Job)
	}
}
