package trajectory

import (
	"strings"
	"testing"

	"github.com/varq-project/varq/predictor/cluster/limits"
)

// TestPoweredDown: a job becomes eligible so long before its deadline that its nodes can be powered
// up, or now if they are up.
func TestPoweredDown(t *testing.T) {
	const resume = 600
	p := Planner{Cluster: site(func(p *limits.Partition) { p.Resume = resume }), Forecaster: curve{mean: 1, sample: 1000}}
	if a := p.Plan(request(1, hour, .5)); a.Plan == nil || a.Plan.Begin > noon+hour-resume {
		t.Errorf("planned %+v, %+v", a.Plan, a.Refusal)
	}
	if a := p.Plan(request(1, resume-1, .5)); a.Refusal == nil || a.Refusal.Limit != "partition main ResumeTimeout" || !strings.Contains(a.Refusal.Reason, "00:10:00") {
		t.Errorf("sooner than nodes are up: %+v, %+v", a.Plan, a.Refusal)
	}
	p.Cluster.Nodes = map[string]limits.Node{"n3": {CPUs: 8, Usable: true, Awake: true}}
	if a := p.Plan(request(1, resume-1, .5)); a.Plan == nil || a.Plan.Begin != noon {
		t.Errorf("with a node that is up: %+v, %+v", a.Plan, a.Refusal)
	}
	r := request(1, resume-1, .5)
	if v := p.Replan(r, Submission{Begin: noon - 10, Limit: 2 * hour}); v.Prob < .5 {
		t.Errorf("once it is eligible: %+v", v)
	}
}
