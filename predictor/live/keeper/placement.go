package keeper

import (
	"cmp"
	"math"
	"slices"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cluster/limits"
	"github.com/varq-project/varq/predictor/promise/placement"
	"github.com/varq-project/varq/predictor/workload"
)

// window is a time from now on, in seconds.
type window struct{ from, to int64 }

// duringWork returns the window of a job's work that begins after some seconds.
func duringWork(begins int64, job *workload.Request) window {
	begins = max(0, begins)
	return window{begins, begins + max(1, job.Limit)}
}

// failures returns how many failures of a set of nodes are expected in a window.
func (k *Keeper) failures(nodes []string, s window) float64 {
	if k.Health == nil || len(nodes) == 0 || s.to <= s.from {
		return 0
	}
	const most = 50 // more make no difference
	return min(-math.Log1p(-k.Health.FailureProb(nodes, s.from, s.to)), most)
}

// candidates returns the nodes that a job may run on, without those that it avoids, and how many failures of each are expected in
// a window.
func (k *Keeper) candidates(c *limits.Cluster, job *workload.Request, avoided []string, s window) (nodes []placement.Node) {
	for _, name := range c.Partitions[job.Partition].Nodes {
		if n, known := c.Nodes[name]; known && n.Usable && !slices.Contains(avoided, name) {
			nodes = append(nodes, placement.Node{Name: name, Expected: k.failures([]string{name}, s)})
		}
	}
	return nodes
}

// failuresOf returns how many failures are expected of the nodes of a job that may run on any of some.
func failuresOf(job *workload.Request, nodes []placement.Node) float64 {
	sum := 0.
	for _, n := range nodes {
		sum += n.Expected
	}
	return sum * float64(max(1, job.Nodes)) / float64(max(1, len(nodes)))
}

// avoided returns the nodes that a job had better do without during a window, as far as its user and the site want that, by name; and
// by how much that lowers the probability that one of its nodes fails then.
func (k *Keeper) avoided(c *limits.Cluster, job *workload.Request, req *api.PlanRequest, s window) (names []string, safer float64) {
	named := req.Needs != nil && len(req.Needs.NodeList.Names)+len(req.Needs.Exclude.Names) > 0
	if k.Health == nil || named || cmp.Or(req.RiskyNodes, k.RiskyNodes) != api.RiskyAvoid {
		return nil, 0
	}
	all := k.candidates(c, job, nil, s)
	for _, n := range placement.Avoid(all, int(max(1, job.Nodes))) {
		names = append(names, n.Name)
	}
	if len(names) == 0 {
		return nil, 0
	}
	slices.Sort(names)
	rest := slices.DeleteFunc(slices.Clone(all), func(n placement.Node) bool { return slices.Contains(names, n.Name) })
	return names, math.Exp(-failuresOf(job, rest)) - math.Exp(-failuresOf(job, all))
}
