package keeper

import (
	"strings"
	"testing"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/live/desk/desktest"
	"github.com/varq-project/varq/predictor/workload"
)

// Under Slurm's limits on what runs or waits at once, a promise counts from the moment at which it
// is made: once, until its job has left the queue or the promise is taken back.
func TestUnseenPromisesCount(t *testing.T) {
	s := newSite(t)
	s.Slurm.Limits.PerUser.Jobs = new(int64(2))
	s.Refresh()
	ask := func(user string) *api.Plan {
		t.Helper()
		a, err := s.desk.Plan(t.Context(), user, desktest.Request(desktest.Epoch+7200), true)
		if err != nil {
			t.Fatal(err)
		}
		const says = "QOS mains (of one user) allows 2 jobs at once (MaxJobsPU), and until the deadline your other jobs may have 2"
		if a.Plan == nil && !strings.HasPrefix(a.Refusal.Reason, says) {
			t.Fatalf("refused: %s", a.Refusal.Reason)
		}
		return a.Plan
	}
	first, second := ask("alice"), ask("alice")
	if first == nil || second == nil || ask("alice") != nil {
		t.Fatal("not just the third is refused")
	}
	if ask("bob") == nil {
		t.Fatal("it counts for others")
	}

	// A crash loses nothing.
	s.crash()
	if ask("alice") != nil {
		t.Fatal("a third is promised after a crash")
	}

	// The first promise's job is in the queue: at first only in Slurm's, then also in what varqd
	// has seen.
	queued := func(p *api.Plan, id int64) workload.Job {
		return workload.Job{
			ID: id, Submit: s.Clock, Eligible: p.BeginTime, State: workload.Pending, Comment: p.Comment,
			Request: workload.Request{User: "alice", Partition: "main", Size: workload.Size{Nodes: 2, CPUs: 2}, Limit: p.TimeLimit},
		}
	}
	job := queued(first, 7)
	if err := s.Ledger.Bind(t.Context(), first.ID, "alice", job.ID, job.Submit, s.Clock, true); err != nil {
		t.Fatal(err)
	}
	if ask("alice") != nil {
		t.Fatal("a third is promised when the first has a job")
	}
	s.Outlook.SeenAt, s.Outlook.Known = s.Clock, []workload.Job{job}
	if ask("alice") != nil {
		t.Fatal("a third is promised in the second of the look")
	}
	if err := s.keeper.Cancel(t.Context(), "alice", api.Cancellation{Plan: second.ID}); err != nil {
		t.Fatal(err)
	}
	third := ask("alice")
	if third == nil {
		t.Fatal("the first counts twice, or the second still counts")
	}

	// A job that was seen and has left the queue has ended, even if its promise is not settled yet.
	s.Outlook.SeenAt, s.Outlook.Known = s.Clock+60, nil
	if ask("alice") == nil || ask("alice") != nil {
		t.Error("not just one job has left the queue")
	}
}
