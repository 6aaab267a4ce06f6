package desk

import (
	"testing"

	"github.com/varq-project/varq/predictor/live/desk/desktest"
	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/workload"
)

// A job that a plugin has moved to another partition is told why nothing is promised there: nothing
// is known of it, or it starts too late.
func TestAdoptElsewhere(t *testing.T) {
	const unknown = "9 jobs are known to have started in partition short, and a forecast needs 20; once there are as many, ask again"
	for want, change := range map[string]func(*desktest.Outlook){
		"":      func(*desktest.Outlook) {},
		unknown: func(o *desktest.Outlook) { o.Down = unknown },
		"there it starts by the deadline with probability 0.10": func(o *desktest.Outlook) { o.Delay = 9000 },
	} {
		s := newSite(t)
		s.Slurm.Short = 86400
		s.Refresh()
		a, err := s.desk.Plan(t.Context(), "alice", desktest.Request(desktest.Epoch+7200), true)
		if err != nil || a.Plan == nil {
			t.Fatal(a.Refusal, err)
		}
		e, _, err := s.Ledger.OpenPlan(t.Context(), a.Plan.ID)
		if err != nil {
			t.Fatal(err)
		}
		change(s.Outlook)
		j := slurm.QueueEntry{Job: workload.Job{
			ID: 7, Submit: s.Clock, Eligible: a.Plan.BeginTime, State: workload.Pending, Comment: a.Plan.Comment,
			Request: workload.Request{User: "alice", Partition: "short", Size: e.Size, Limit: a.Plan.TimeLimit},
		}}
		if got, err := s.desk.Adopt(t.Context(), &e, &j); got != want || err != nil {
			t.Errorf("%q, %v; want %q", got, err, want)
		}
	}
}
