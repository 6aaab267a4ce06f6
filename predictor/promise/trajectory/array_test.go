package trajectory

import (
	"slices"
	"strings"
	"testing"

	"github.com/varq-project/varq/predictor/cluster/limits"
	"github.com/varq-project/varq/predictor/workload"
)

// asksFor is a Forecaster that notes the sizes it is asked about. Larger jobs wait longer.
type asksFor struct{ sizes *[]workload.Size }

func (f asksFor) Forecast(r workload.Request, now int64, c []workload.Candidate, est []workload.Estimate) {
	*f.sizes = append(*f.sizes, r.Size)
	curve{mean: float64(r.CPUs) * hour / 64, sample: 1000}.Forecast(r, now, c, est)
}

// The tasks of an array are forecast, and cost, what they have together. Fewer tasks are offered
// where so many cannot be promised.
func TestArray(t *testing.T) {
	var sizes []workload.Size
	p := &Planner{Forecaster: asksFor{&sizes}, Cluster: site(nil)}
	r := Request{
		Job: workload.Request{Partition: "main", Limit: hour, Size: workload.Size{Nodes: 1, CPUs: 4}}, Needs: &workload.Needs{MostNodes: 1}, Tasks: 4,
		Now: noon, Deadline: noon + 8*hour, HoldUntil: noon + 8*hour, Prob: .8,
	}
	a := p.Plan(r)
	if a.Plan == nil || a.Tasks != 4 || a.Plan.Work.NodeSeconds != 4*hour || a.Plan.Worst.NodeSeconds != 4*float64(r.HoldUntil-a.Plan.Begin) {
		t.Fatalf("%+v: %+v", a.Plan, a.Refusal)
	}
	for _, s := range sizes {
		if s.CPUs != 16 || s.Nodes != a.TasksNodes {
			t.Errorf("forecast for %+v, of %d nodes", s, a.TasksNodes)
		}
	}
	if c := a.Claim(); c.CPUs != 16 || c.Pieces.Count != 4*a.Pieces.Count {
		t.Errorf("claims %+v", c)
	}
	r.Tasks = 40
	a = p.Plan(r)
	o := offerOf(t, a, OfferTasks)
	if o == nil || o.Request.Tasks < 4 || o.Request.Tasks >= 40 {
		t.Fatalf("%+v", a.Refusal.Reason)
	}
	again := r
	again.Tasks = o.Request.Tasks
	if a := p.Plan(again); a.Plan == nil {
		t.Errorf("%d tasks were offered, and are refused: %+v", again.Tasks, a.Refusal)
	}
	if offerOf(t, a, OfferNodes) != nil {
		t.Error("smaller tasks are offered")
	}
}

// The limits on what a user has at once count each task, and those on one job do not add them up.
func TestArrayLimits(t *testing.T) {
	c := site(nil)
	three := int64(3)
	c.QOS = map[string]limits.QOS{"few": {Name: "few", JobLimits: limits.JobLimits{MaxTRES: limits.TRES{"cpu": 4}, PerUser: limits.Share{Jobs: &three}}}}
	p := &Planner{Forecaster: curve{mean: 1, sample: 1000}, Cluster: c, Jobs: slices.Values([]*workload.Job(nil))}
	for tasks, promised := range map[int32]bool{1: true, 3: true, 4: false} {
		r := Request{
			Job: workload.Request{User: "alice", Partition: "main", QOS: "few", Limit: hour, Size: workload.Size{Nodes: 1, CPUs: 4}}, Tasks: tasks,
			Now: noon, Deadline: noon + 8*hour, HoldUntil: noon + 8*hour, Prob: .8,
		}
		if a := p.Plan(r); (a.Plan != nil) != promised {
			t.Errorf("%d tasks: %+v", tasks, a.Refusal)
		} else if !promised && (offerOf(t, a, OfferTasks).Request.Tasks != 3 || !strings.Contains(a.Refusal.Reason, "(the other 3 promised tasks of the array among them)")) {
			t.Errorf("%d tasks: offered %+v", tasks, a.Refusal.Offers)
		}
	}
}
