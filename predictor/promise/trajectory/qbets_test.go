package trajectory_test

import (
	"math/rand/v2"
	"testing"

	"github.com/varq-project/varq/predictor/forecast/qbets"
	"github.com/varq-project/varq/predictor/promise/trajectory"
	"github.com/varq-project/varq/predictor/workload"
)

// A queue that backfills jobs of up to 8 hours, and lets longer jobs wait, gives a
// trajectory of Figure 4's shape. The probability jumps where the enlarged limit falls to 8
// hours, and decreases from there towards the deadline.
func TestSection3Figure4FromWaits(t *testing.T) {
	p := qbets.New()
	r := rand.New(rand.NewPCG(9, 10))
	for i := range 4000 {
		limit, mean := int64(8*hour), 1.*hour
		if i%2 == 0 {
			limit, mean = 12*hour, 24.*hour
		}
		start := int64(1_600_000_000 + 300*i)
		p.Learn(workload.Job{
			Request:  workload.Request{Partition: "dque", Size: workload.Size{Nodes: 4, CPUs: 8}, Limit: limit - r.Int64N(hour)},
			Eligible: start - int64(mean*r.ExpFloat64()), Start: start,
		})
	}
	now := int64(1_700_000_000)
	q := trajectory.Request{
		Job: workload.Request{Partition: "dque", Size: workload.Size{Nodes: 4, CPUs: 8}, Limit: hour},
		Now: now, Deadline: now + 12*hour, HoldUntil: now + 12*hour, Prob: .9,
	}
	a := (&trajectory.Planner{Forecaster: p}).Plan(q)
	if a.Plan == nil {
		t.Fatal(a.Refusal.Reason)
	}
	// 1 h of work and 7 h of idle nodes make 8 h.
	jump := int((12 - 7) * hour / 30)
	before, after := a.Trajectory[jump-1], a.Trajectory[jump]
	if before.Class == after.Class || before.Prob > .35 || after.Prob < .95 {
		t.Errorf("from %+v to %+v", before, after)
	}
	for i := jump + 1; i < len(a.Trajectory); i++ {
		if one, two := a.Trajectory[i-1], a.Trajectory[i]; one.Class == two.Class && one.Prob < two.Prob {
			t.Fatalf("rises from %+v to %+v", one, two)
		}
	}
	// An exponential wait of mean 1 h is within 2.3 h with probability .9; the
	// bound is a little higher.
	if lead := q.Deadline - a.Plan.Begin; lead < 2*hour || lead > 4*hour {
		t.Errorf("eligible %d s before the deadline", lead)
	}
}
