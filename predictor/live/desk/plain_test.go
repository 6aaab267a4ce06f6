package desk

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/varq-project/varq/predictor/live/desk/desktest"
	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/workload"
)

// Plain jobs that become eligible later claim room, in the order of their begin times. These claim
// nothing: jobs whose begin nobody knows, and the job of an open promise.
func TestPlainJobsClaim(t *testing.T) {
	s := newSite(t)
	answer, err := s.desk.Plan(t.Context(), "alice", desktest.Request(desktest.Epoch+7200), true)
	if err != nil {
		t.Fatal(err)
	}
	plain := func(id int64, change func(*slurm.QueueEntry)) {
		j := slurm.QueueEntry{Job: workload.Job{
			ID: id, Submit: desktest.Epoch, Eligible: desktest.Epoch + 600, State: workload.Pending,
			Request: workload.Request{User: "bob", Partition: "main", Size: workload.Size{Nodes: 2, CPUs: 2}, Limit: 1800},
		}}
		change(&j)
		s.Slurm.Pending[id] = j
	}
	plain(1, func(j *slurm.QueueEntry) { j.Eligible = desktest.Epoch + 900 })
	plain(2, func(*slurm.QueueEntry) {})
	plain(3, func(j *slurm.QueueEntry) { j.Held = true })
	plain(4, func(j *slurm.QueueEntry) { j.Stopped = "JobHeldAdmin" })
	plain(5, func(j *slurm.QueueEntry) { j.Dependency = "afterok:9" })
	plain(6, func(j *slurm.QueueEntry) { j.Eligible = desktest.Epoch })
	plain(7, func(j *slurm.QueueEntry) {
		j.Eligible, j.Start, j.State = desktest.Epoch, desktest.Epoch, workload.Running
	})
	plain(8, func(j *slurm.QueueEntry) { j.Comment, j.User = answer.Plan.Comment, "alice" })
	plain(9, func(j *slurm.QueueEntry) { j.Exclusive, j.Eligible = true, desktest.Epoch+1000 })
	plain(10, func(j *slurm.QueueEntry) {
		j.Tasks, j.AtOnce, j.Eligible, j.Licences = 100, 3, desktest.Epoch+1100, "matlab:1"
	})
	plain(12, func(j *slurm.QueueEntry) { j.Exclusive, j.Tasks, j.Eligible = true, 3, desktest.Epoch+1300 })
	plain(13, func(j *slurm.QueueEntry) { j.Nodes = 1_000_000_000 }) // it never starts
	plain(11, func(j *slurm.QueueEntry) {
		j.Tasks, j.Eligible, j.Nodes, j.Partition = 5, desktest.Epoch+1200, 1, "main,other"
	})
	type has struct {
		Job, Start  int64
		Nodes, CPUs int32
		Pieces      workload.Pieces
		Licences    workload.Licences
	}
	queue := func(yield func(*slurm.QueueEntry) bool) {
		for _, j := range s.Slurm.Pending {
			if !yield(&j) {
				return
			}
		}
	}
	claimed := func() (plain []has, promised int) {
		t.Helper()
		s.desk.ObservePlain(queue, map[int64]bool{8: true}, desktest.Epoch)
		claims, err := s.desk.claims(t.Context(), desktest.Epoch, "")
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range claims {
			switch {
			case c.Plain != (c.User == "bob") || c.Plain && (c.Start != c.From || c.Job != 10 && c.Limit != 1800 || c.Job == 10 && c.Limit < 34*1800):
				t.Errorf("%+v", c)
			case c.Plain:
				plain = append(plain, has{c.Job, c.Start, c.Nodes, c.CPUs, c.Pieces, c.Licences})
			default:
				promised++
			}
		}
		return plain, promised
	}
	apart := func(n int32) workload.Pieces { return workload.Pieces{Count: n, Each: workload.Size{CPUs: 1}} }
	want := []has{
		{2, desktest.Epoch + 600, 2, 2, apart(2), ""},
		{1, desktest.Epoch + 900, 2, 2, apart(2), ""},
		{9, desktest.Epoch + 1000, 2, 250, workload.Pieces{Count: 2, Exclusive: true}, ""},
		{10, desktest.Epoch + 1100, 2, 6, apart(6), "matlab:3"},
		{11, desktest.Epoch + 1200, 1, 10, workload.Pieces{Count: 5, Each: workload.Size{CPUs: 2}}, ""},
		{12, desktest.Epoch + 1300, 6, 750, workload.Pieces{Count: 6, Exclusive: true}, ""},
	}
	got, promised := claimed()
	if diff := cmp.Diff(want, got); diff != "" || promised != 1 {
		t.Errorf("%d promises, %s", promised, diff)
	}
	five := int64(5)
	s.Slurm.Limits.PerUser.Jobs = &five
	s.Refresh()
	got, _ = claimed()
	// 3 jobs, and 2 tasks
	want = append(want[:3], has{10, desktest.Epoch + 1100, 2, 4, apart(4), "matlab:2"})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("of a user who may have %d jobs at once: %s", five, diff)
	}
}
