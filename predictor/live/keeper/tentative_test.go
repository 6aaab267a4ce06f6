package keeper

import (
	"errors"
	"strings"
	"testing"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/live/desk/desktest"
	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/workload"
)

// submitTentative makes alice a tentative promise, and submits its job 7.
func (s *site) submitTentative() api.PlanAnswer {
	s.T.Helper()
	r := desktest.Request(desktest.Epoch + 7200)
	r.Tentative = 60
	a, err := s.desk.Plan(s.T.Context(), "alice", r, true)
	if err != nil || a.Plan == nil {
		s.T.Fatal(a, err)
	}
	s.Slurm.Pending[7] = slurm.QueueEntry{Job: workload.Job{
		ID: 7, Submit: s.Clock, Eligible: a.Plan.SubmitBegin(), State: workload.Pending, Comment: a.Plan.Comment,
		Request: workload.Request{User: "alice", Account: r.Job.Account, Partition: "main", Size: r.Job.Size, Limit: a.Plan.TimeLimit},
	}}
	return a
}

// If a promise is confirmed and taken back at the same time, only one of the two succeeds.
func TestTakenBackWhileConfirmed(t *testing.T) {
	s := newSite(t)
	a := s.submitTentative()
	now, confirmed := s.keeper.Now, errors.New("not asked")
	s.keeper.Now = func() int64 { // between the look at the ledger and the taking back
		s.keeper.Now = now
		confirmed = s.keeper.Confirm(t.Context(), "alice", api.Confirmation{Plan: a.Plan.ID, Job: 7})
		return now()
	}
	back := s.keeper.Cancel(t.Context(), "alice", api.Cancellation{Plan: a.Plan.ID})
	if confirmed != nil || !errors.Is(back, api.ErrConflict) {
		t.Errorf("confirmed: %v; taken back: %v", confirmed, back)
	}
	if e, err := s.keeper.planOf(t.Context(), "alice", a.Plan.ID); err != nil || e.Withdrawn != 0 {
		t.Error("it is taken back")
	}
	for _, call := range s.Slurm.Calls {
		if call == "cancel job 7" {
			t.Error(call)
		}
	}
}

// Reporting the job of a plan that is confirmed meanwhile changes nothing any more.
func TestConfirmedWhileBound(t *testing.T) {
	s := newSite(t)
	a := s.submitTentative()
	confirmed := errors.New("not asked")
	s.Slurm.ChangesAtRead = map[int64]func(*slurm.QueueEntry){7: func(*slurm.QueueEntry) {
		s.Slurm.ChangesAtRead = nil
		confirmed = s.keeper.Confirm(t.Context(), "alice", api.Confirmation{Plan: a.Plan.ID, Job: 7})
	}}
	if err := s.keeper.Bind(t.Context(), "alice", api.Binding{Plan: a.Plan.ID, Job: 7}); err != nil || confirmed != nil {
		t.Fatal(err, confirmed)
	}
	e, err := s.keeper.planOf(t.Context(), "alice", a.Plan.ID)
	if err != nil || e.Progress.Confirmed == 0 || e.Progress.BeginTime != a.Plan.BeginTime {
		t.Errorf("%+v, %v", e, err)
	}
}

// A job that the queue has meanwhile shown to be otherwise than promised is refused once, and its
// user is told why.
func TestRefusedWhileBound(t *testing.T) {
	s := &scene{site: newSite(t), plans: map[string]*api.Plan{}, events: map[string]int{}}
	s.play("promise p by 10:00\nsubmit p as 7\nset 7 partition=short")
	s.Slurm.ChangesAtRead = map[int64]func(*slurm.QueueEntry){7: func(*slurm.QueueEntry) {
		s.Slurm.ChangesAtRead = nil
		if err := s.watch(); err != nil {
			t.Error(err)
		}
	}}
	err := s.keeper.Bind(t.Context(), "alice", api.Binding{Plan: s.plans["p"].ID, Job: 7})
	if !errors.Is(err, api.ErrConflict) || !strings.Contains(err.Error(), "its partition is short instead of main") {
		t.Error(err)
	}
}
