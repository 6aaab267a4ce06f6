package trajectory

import (
	"slices"
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

// What other jobs leave of a limit on minutes bounds the work and the time to hold the nodes.
func TestPlanBesideMinutes(t *testing.T) {
	c := site(nil)
	c.QOS = map[string]limits.QOS{"normal": {Name: "normal", JobLimits: limits.JobLimits{MaxWall: limits.None, GrpTRESRunMins: limits.TRES{"cpu": 3 * 480}}}}
	p := &Planner{Forecaster: curve{mean: hour / 4, sample: 1000}, Cluster: c}
	q := request(1, 8*hour, .95) // 480 CPU-minutes without the time to hold the node
	beside := func(left int64) Answer {
		p.Jobs = slices.Values([]*workload.Job{{ID: 7, Start: noon - hour, Request: workload.Request{
			Partition: "main", QOS: "normal", Size: workload.Size{Nodes: 1, CPUs: 8}, Limit: 9*hour + left,
		}}})
		return p.Plan(q)
	}
	promised := beside(hour)
	if promised.Plan == nil || promised.Plan.Limit > 2*hour {
		t.Fatalf("beside an hour of 8 CPUs: %+v %+v", promised.Plan, promised.Refusal)
	}
	for left, says := range map[int64]string{
		hour * 3 / 2: "QOS normal leaves a job of this size 01:30:00 beside other jobs that may run at the deadline (GrpTRESRunMins=cpu), too little for the work and the time to hold it",
		hour * 5 / 2: "--time=01:00:00: QOS normal leaves a job of this size 00:30:00 beside other jobs that may run at the deadline (GrpTRESRunMins=cpu)",
	} {
		a := beside(left)
		if a.Refusal == nil || a.Refusal.Limit != "QOS normal GrpTRESRunMins=cpu" || a.Refusal.Reason != says {
			t.Fatalf("beside %d s: %+v %+v", left, a.Plan, a.Refusal)
		}
		if o := offerOf(t, a, OfferNodes); o == nil || int64(o.Request.Job.CPUs)*o.Plan.Limit > 8*(3*hour-left) {
			t.Errorf("beside %d s: offered %+v", left, o)
		}
	}
	q.Job = promised.Job
	if revised := p.Replan(q, Submission{promised.Plan.Begin, promised.Plan.Limit}); revised.Stay < q.Prob {
		t.Errorf("jobs that came later endanger a promise: %+v", revised)
	}
}
