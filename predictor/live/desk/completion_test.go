package desk

import (
	"strings"
	"testing"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/live/desk/desktest"
	"github.com/varq-project/varq/predictor/slurmtime"
	"github.com/varq-project/varq/predictor/workload"
)

// beside has room beside others' claims from a time on only, and none at all while jobs run.
type beside struct {
	*desktest.Outlook
	from, busy int64
}

func (b beside) Room(_ workload.Place, _, _ int64, claims []workload.Claim) func(workload.Claim, float64) workload.Room {
	return func(c workload.Claim, _ float64) workload.Room {
		switch {
		case len(claims) > 0 && c.From < b.from:
			return workload.Room{Next: []int64{b.from}}
		case c.From < b.busy:
			return workload.Room{Next: []int64{b.busy}}
		}
		return workload.Room{Prob: 1}
	}
}

// A job whose end is promised does not become eligible where it would be in the way of others that
// have been promised something, whether it could start at once or when running jobs have ended. Its
// end is promised from then on.
func TestEndsKeepOutOfTheWay(t *testing.T) {
	for _, busy := range []int64{0, desktest.Epoch + 60} {
		endsKeepOutOfTheWay(t, busy)
	}
}

func endsKeepOutOfTheWay(t *testing.T, busy int64) {
	s := newSite(t)
	const epoch, over = desktest.Epoch, desktest.Epoch + 3600
	s.Outlook.RunTime = 1800
	s.desk.Outlook = beside{s.Outlook, over, busy}
	end := func(by int64) api.PlanAnswer {
		req := desktest.Request(0)
		req.BeginBy, req.FinishBy = 0, epoch+by
		a, err := s.desk.Plan(t.Context(), "alice", req, false)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	if a := end(2 * 3600); a.Plan == nil || a.Plan.BeginTime != epoch {
		t.Errorf("beside nobody: %+v", a)
	}
	if a, err := s.desk.Plan(t.Context(), "bob", desktest.Request(epoch+7200), true); err != nil || a.Plan == nil {
		t.Fatalf("%+v, %v", a, err)
	}
	for by, want := range map[int64]bool{4 * 3600: true, 3600 + 900: false} {
		a := end(by)
		if (a.Plan != nil) != want || want && (a.Plan.BeginTime != over || a.Plan.Slot < over) {
			t.Errorf("by %d s: %+v", by, a)
		}
		if behind := "the job may start from " + slurmtime.Stamp(over, s.desk.Zone); a.Refusal != nil && !strings.Contains(a.Refusal.Reason, behind) {
			t.Errorf("by %d s: %s", by, a.Refusal.Reason)
		}
	}
}
