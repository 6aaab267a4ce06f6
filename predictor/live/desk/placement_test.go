package desk

import (
	"fmt"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cluster/limits"
	"github.com/varq-project/varq/predictor/forecast/completion"
	"github.com/varq-project/varq/predictor/live/desk/desktest"
	"github.com/varq-project/varq/predictor/promise/negotiate"
	"github.com/varq-project/varq/predictor/promise/trajectory"
	"github.com/varq-project/varq/predictor/workload"
)

// chances is the Prospect of an end with one probability.
type chances struct{ end, timeOut float64 }

func (c chances) Prob(float64) float64                { return c.end }
func (c chances) Within(float64, int64) (int64, bool) { return 0, false }
func (c chances) TimeOut() float64                    { return c.timeOut }
func (c chances) Lost(float64) float64                { return 0 }

// A refused request gets offers with the longest shorter limit, and with the rarest checkpoints,
// that are enough.
func TestOtherWays(t *testing.T) {
	r := &trajectory.Request{Job: workload.Request{Limit: 7200}, Now: 1000, Prob: .9}
	for name, c := range map[string]struct {
		req      api.PlanRequest
		forecast func(limit, checkpoints int64) chances
		want     []api.Offer
	}{
		"half the limit": {api.PlanRequest{FinishBy: 9000}, func(limit, _ int64) chances {
			return chances{end: 1 - float64(limit)/60_000} // .94 with an hour
		}, []api.Offer{{Kind: api.OfferTime, Prob: .9, FinishBy: 9000, Limit: 3600}}},
		"too short for such jobs": {api.PlanRequest{FinishBy: 9000}, func(limit, _ int64) chances {
			return chances{end: 1 - float64(limit)/40_000, timeOut: .06}
		}, nil},
		"checkpoints every ten minutes": {api.PlanRequest{FinishBy: 9000}, func(_, checkpoints int64) chances {
			if checkpoints == 600 {
				return chances{end: .93}
			}
			return chances{end: .8}
		}, []api.Offer{{Kind: api.OfferSaves, Prob: .9, FinishBy: 9000, Limit: 7200, CheckpointInterval: 600}}},
		"it checkpoints already": {api.PlanRequest{FinishBy: 9000, CheckpointInterval: 600}, func(_, checkpoints int64) chances {
			if checkpoints != 600 {
				t.Errorf("checkpoints every %d s", checkpoints)
			}
			return chances{}
		}, nil},
		"no deadline": {api.PlanRequest{Risk: .9}, func(int64, int64) chances { return chances{end: 1} }, nil},
	} {
		got := otherWays(r, &c.req, func(r *trajectory.Request, of completion.Circumstances) (negotiate.Prospect, bool) {
			return c.forecast(r.Job.Limit, of.Checkpoints), true
		})
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// A job avoids the riskiest of the nodes that Slurm knows and that are up, if its user and the site
// want that.
func TestAvoided(t *testing.T) {
	failing := map[string]float64{}
	c := &limits.Cluster{Partitions: map[string]limits.Partition{}, Nodes: map[string]limits.Node{}}
	main := limits.Partition{Name: "main"}
	for i := range 20 {
		name := fmt.Sprintf("n%02d", i)
		main.Nodes = append(main.Nodes, name)
		c.Nodes[name] = limits.Node{Name: name, Usable: i != 5}
		failing[name] = .001
	}
	main.Nodes = append(main.Nodes, "vanished")
	c.Partitions["main"] = main
	failing["n03"], failing["n05"], failing["n07"], failing["vanished"] = .3, .5, .2, .9
	job := &workload.Request{Partition: "main", Size: workload.Size{Nodes: 2}, Limit: 3600}
	k := hazard{&desktest.Outlook{Failing: failing}, api.RiskyAvoid}
	work := duringWork(0, job)

	names, safer := k.avoided(c, job, &api.PlanRequest{}, work)
	if diff := cmp.Diff([]string{"n03", "n07"}, names); diff != "" {
		t.Error(diff)
	}
	all := -math.Log1p(-.3) - math.Log1p(-.2) - 17*math.Log1p(-.001)
	if want := .999*.999 - math.Exp(-2*all/19); math.Abs(safer-want) > 1e-9 {
		t.Errorf("safer by %g, want %g", safer, want)
	}
	if names, _ := k.avoided(c, job, &api.PlanRequest{RiskyNodes: api.RiskyAllow}, work); names != nil {
		t.Errorf("allowed, and yet leaves out %v", names)
	}
	for i := range 20 {
		name := fmt.Sprintf("n%02d", i)
		n := c.Nodes[name]
		n.CPUs, n.Memory = 4, 1000
		if i == 3 || i == 9 || i == 12 {
			n.Memory = 9000
		}
		c.Nodes[name] = n
	}
	many := *job
	many.Nodes, many.CPUs = 1, 40
	if names, _ := k.avoided(c, &many, &api.PlanRequest{}, work); names != nil {
		t.Errorf("without %v the 40 CPUs of a job may be too many", names)
	}
	large := &workload.Needs{NodeMemory: workload.NodeNeed{Amount: 8000, Option: "--mem"}}
	if names, _ := k.avoided(c, job, &api.PlanRequest{Needs: large}, work); names != nil {
		t.Errorf("leaves out %v of the three nodes that have the memory", names)
	}
	named := &workload.Needs{Exclude: workload.NamedNodes{Names: []string{"n01"}}}
	if names, _ := k.avoided(c, job, &api.PlanRequest{Needs: named}, work); names != nil {
		t.Errorf("with nodes of the user's choice it leaves out %v", names)
	}
	k.risky = api.RiskyAllow
	if names, _ := k.avoided(c, job, &api.PlanRequest{}, work); names != nil {
		t.Errorf("the site allows risky nodes, and yet leaves out %v", names)
	}
	if names, _ := k.avoided(c, job, &api.PlanRequest{RiskyNodes: api.RiskyAvoid}, work); len(names) != 2 {
		t.Errorf("the user avoids risky nodes, and leaves out %v", names)
	}
}
