package keeper

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/live/premises"
	"github.com/varq-project/varq/predictor/promise/report"
	"github.com/varq-project/varq/predictor/workload"
)

func TestReportPromise(t *testing.T) {
	for state, want := range map[string]report.Outcome{
		api.StatePromised: report.Open, api.StatePending: report.Open, api.StateHolding: report.Open, api.StateRunning: report.Open,
		api.StateKept: report.Kept, api.StateMissed: report.Missed, api.StateCancelled: report.Cancelled,
	} {
		got := reportPromise(&api.Reservation{
			Plan: api.Plan{Prob: .9, Estimate: .95, BeginBy: 7, HoldUntil: 5, Work: api.Cost{NodeSeconds: 10}},
			User: "alice", Account: "physics", Partition: "main", Size: workload.Size{Nodes: 2, CPUs: 8},
			State: state, Start: 3, WorkStart: 6, End: 9,
		})
		want := report.Promise{
			User: "alice", Account: "physics", Partition: "main", Outcome: want,
			Prob: .9, Estimate: .95, Deadline: 7, Work: 10, HoldUntil: 5, Start: 3, WorkStart: 6, End: 9, Nodes: 2,
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", state, diff)
		}
	}
	if got := reportPromise(&api.Reservation{Plan: api.Plan{FinishBy: 8}}); got.Deadline != 8 {
		t.Errorf("the deadline of an end is %d", got.Deadline)
	}
}

// Before Slurm has told who is an operator, nobody but root sees what they may see, nor is told that she may not.
func TestNothingIsKnownYet(t *testing.T) {
	s := newSite(t)
	s.Premises = premises.New(s.Premises.Options)
	s.desk.Premises = s.Premises
	for _, user := range []string{"oper", "alice"} {
		_, others := s.keeper.Reservations(t.Context(), user, api.ReservationsQuery{User: api.Everybody})
		_, report := s.keeper.Report(t.Context(), user, api.ReportQuery{User: "bob"})
		for what, err := range map[string]error{"nodes": s.Premises.MaySeeNodes(user), "reservations": others, "report": report} {
			if !errors.Is(err, api.ErrUnavailable) || !strings.Contains(err.Error(), "try again in a moment") {
				t.Errorf("%s of %s: %v", what, user, err)
			}
		}
		if _, err := s.keeper.Reservations(t.Context(), user, api.ReservationsQuery{}); err != nil {
			t.Errorf("her own: %v", err)
		}
	}
	if err := s.Premises.MaySeeNodes("root"); err != nil {
		t.Error(err)
	}
}
