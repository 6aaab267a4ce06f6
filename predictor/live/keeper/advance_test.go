package keeper

import (
	"testing"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/live/desk/desktest"
	"github.com/varq-project/varq/predictor/live/ledger"
	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/workload"
)

// crowded has no room beside claims of others before a time.
type crowded struct {
	*desktest.Outlook
	until int64
}

func (c crowded) Room(_ workload.Place, _, _ int64, claims []workload.Claim) func(workload.Claim, float64) workload.Room {
	return func(claim workload.Claim, _ float64) workload.Room {
		if len(claims) > 0 && claim.From < c.until {
			return workload.Room{Next: []int64{c.until}}
		}
		return workload.Room{Prob: 1}
	}
}

// A job whose end is promised becomes eligible when promises made before leave it room. When these
// are gone, that is at once.
func TestAdvance(t *testing.T) {
	s := newSite(t)
	const epoch, over = desktest.Epoch, desktest.Epoch + 7200
	s.Outlook.RunTime = 1800
	s.desk.Outlook = crowded{s.Outlook, over}
	other, err := s.desk.Plan(t.Context(), "bob", desktest.Request(epoch+3600), true)
	if err != nil || other.Plan == nil {
		t.Fatalf("%+v, %v", other, err)
	}
	request := desktest.Request(0)
	request.BeginBy, request.FinishBy = 0, epoch+6*3600
	a, err := s.desk.Plan(t.Context(), "alice", request, true)
	if err != nil || a.Plan == nil || a.Plan.BeginTime != over {
		t.Fatalf("%+v, %v", a, err)
	}
	const job = 7
	s.Slurm.Pending[job] = slurm.QueueEntry{Name: "wrap", Job: workload.Job{
		ID: job, Submit: epoch, Eligible: a.Plan.BeginTime, State: workload.Pending, Comment: a.Plan.Comment,
		Request: workload.Request{User: "alice", Account: "phys", Partition: "main", Size: workload.Size{Nodes: 2, CPUs: 2}, Limit: a.Plan.TimeLimit},
	}}
	eligible := func() int64 {
		t.Helper()
		if err := s.watch(); err != nil {
			t.Fatal(err)
		}
		return s.Slurm.Pending[job].Eligible
	}
	if at := eligible(); at != over {
		t.Errorf("eligible %d s after the promise, and others are promised", at-epoch)
	}
	if err := s.keeper.Cancel(t.Context(), "bob", api.Cancellation{Plan: other.Plan.ID}); err != nil {
		t.Fatal(err)
	}
	s.Clock += 60
	if at := eligible(); at != epoch+60 {
		t.Errorf("eligible %d s after the promise, and nobody else is promised anything", at-epoch)
	}
	list, err := s.Ledger.Select(t.Context(), ledger.Query{Job: job})
	if err != nil || len(list) != 1 || list[0].Progress.Yielded || list[0].Progress.BeginTime != epoch+60 {
		t.Errorf("%+v, %v", list, err)
	}
}
