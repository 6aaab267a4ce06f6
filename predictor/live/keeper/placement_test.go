package keeper

import (
	"fmt"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cluster/limits"
	"github.com/varq-project/varq/predictor/workload"
)

// A job leaves out the riskiest of the nodes that Slurm knows and that are up, as its user and the site want.
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
	k := New(Options{Health: &fakeOutlook{failing: failing}, RiskyNodes: api.RiskyAvoid})
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
	named := &workload.Needs{Exclude: workload.NamedNodes{Names: []string{"n01"}}}
	if names, _ := k.avoided(c, job, &api.PlanRequest{Needs: named}, work); names != nil {
		t.Errorf("with nodes of the user's choice it leaves out %v", names)
	}
	k.RiskyNodes = api.RiskyAllow
	if names, _ := k.avoided(c, job, &api.PlanRequest{}, work); names != nil {
		t.Errorf("the site allows risky nodes, and yet leaves out %v", names)
	}
	if names, _ := k.avoided(c, job, &api.PlanRequest{RiskyNodes: api.RiskyAvoid}, work); len(names) != 2 {
		t.Errorf("the user avoids risky nodes, and leaves out %v", names)
	}
}
