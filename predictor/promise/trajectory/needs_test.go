package trajectory

import (
	"strings"
	"testing"

	"github.com/varq-project/varq/predictor/cluster/limits"
	"github.com/varq-project/varq/predictor/workload"
)

// A job that is alone on its nodes is forecast, and billed, with all their CPUs. What Slurm would
// refuse is refused without a forecast and without offers.
func TestPlanWithNeeds(t *testing.T) {
	c := site(nil)
	c.Nodes = map[string]limits.Node{}
	for _, name := range c.Partitions["main"].Nodes {
		c.Nodes[name] = limits.Node{Name: name, CPUs: 8, Memory: 1000, Features: []string{"ib"}, Usable: true}
	}
	p := &Planner{Forecaster: curve{mean: hour, sample: 1000}, Cluster: c}
	q := Request{
		Job: workload.Request{Partition: "main", Limit: hour, Size: workload.Size{Nodes: 2, CPUs: 2}},
		Now: noon, Deadline: noon + 8*hour, HoldUntil: noon + 8*hour, Prob: .8, Needs: &workload.Needs{Constraint: "ib"},
	}
	if a := p.Plan(q); a.Plan == nil || a.Job.CPUs != 2 {
		t.Errorf("%+v %+v", a.Job, a.Refusal)
	}
	q.Needs = &workload.Needs{Exclusive: true}
	var asked workload.Claim
	p.Room = func(c workload.Claim, _ int64, _ float64) workload.Room {
		asked = c
		return workload.Room{Prob: 1}
	}
	if a, want := p.Plan(q), (workload.Pieces{Count: 2, Exclusive: true}); a.Pieces != want || asked.Pieces != want {
		t.Errorf("room is looked for for %+v, and kept for %+v", asked.Pieces, a.Pieces)
	}
	if a := p.Plan(q); a.Plan == nil || a.Job.CPUs != 16 || a.Plan.Work.BillingSeconds != 16*hour {
		t.Errorf("exclusive: %+v %+v", a.Job, a.Plan)
	}
	q.Needs = &workload.Needs{Constraint: "foo"}
	a := p.Plan(q)
	if a.Refusal == nil || !strings.HasPrefix(a.Refusal.Reason, "--constraint=foo: ") || len(a.Refusal.Offers) > 0 || len(a.Trajectory) > 0 {
		t.Errorf("%+v", a)
	}
}
