package records

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/promise/report"
	"github.com/varq-project/varq/predictor/workload"
)

func TestReportPromise(t *testing.T) {
	for state, want := range map[string]report.Outcome{
		api.StatePromised: report.Open, api.StatePending: report.Open, api.StateHolding: report.Open, api.StateRunning: report.Open,
		api.StateKept: report.Kept, api.StateMissed: report.Missed, api.StateCancelled: report.Cancelled,
	} {
		got := Promise(&api.Reservation{
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
	if got := Promise(&api.Reservation{Plan: api.Plan{FinishBy: 8}}); got.Deadline != 8 {
		t.Errorf("the deadline of an end is %d", got.Deadline)
	}
}
