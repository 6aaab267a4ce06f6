package desk

import (
	"cmp"
	"math"
	"slices"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cluster/limits"
	"github.com/varq-project/varq/predictor/forecast/fault"
	"github.com/varq-project/varq/predictor/promise/placement"
	"github.com/varq-project/varq/predictor/workload"
)

// window is a span of time, in seconds from now on.
type window struct{ from, to int64 }

// duringWork returns the window of a job's work that begins after some seconds.
func duringWork(begins int64, job *workload.Request) window {
	begins = max(0, begins)
	return window{begins, begins + max(1, job.Limit)}
}

// hazard knows the failures of nodes that are forecast, and whether jobs avoid risky nodes by
// default.
type hazard struct {
	health Health // nil if nothing is forecast
	risky  string // as in Options.RiskyNodes
}

// failures returns the expected number of failures of a set of nodes in a window.
func (h hazard) failures(nodes []string, s window) float64 {
	if h.health == nil || len(nodes) == 0 || s.to <= s.from {
		return 0
	}
	return fault.Failures(h.health.FailureProb(nodes, s.from, s.to))
}

// candidates returns the nodes that fit a job, without those that it avoids, each with the expected
// number of its failures in a window.
func (h hazard) candidates(fitting []limits.Node, avoided []string, s window) (nodes []placement.Node) {
	for i := range fitting {
		if name := fitting[i].Name; !slices.Contains(avoided, name) {
			nodes = append(nodes, placement.Node{Name: name, Expected: h.failures([]string{name}, s)})
		}
	}
	return nodes
}

// rate returns the expected number of failures per second of the nodes of a job that needs all,
// without those that it avoids, while it works for some seconds.
func (h hazard) rate(job *limits.Job, all *workload.Request, avoided []string, seconds int64) float64 {
	if h.health == nil {
		return 0
	}
	fitting, seconds := job.Fitting(), max(1, seconds)
	return failuresOf(nodesFor(all, fitting), h.candidates(fitting, avoided, window{0, seconds})) / float64(seconds)
}

// nodesFor returns how many of the nodes that fit a job are certainly enough for it, whichever
// nodes these are.
func nodesFor(job *workload.Request, fitting []limits.Node) int {
	need := int64(max(1, job.Nodes))
	for _, of := range []struct {
		all int64
		on  func(*limits.Node) int64
	}{
		{int64(job.CPUs), func(n *limits.Node) int64 { return n.CPUs }},
		{int64(job.GPUs), func(n *limits.Node) int64 { return n.Gres["gpu"] }},
		{job.Memory, func(n *limits.Node) int64 { return n.Memory }},
	} {
		least := int64(0)
		for i := range fitting {
			if has := of.on(&fitting[i]); has > 0 && (least == 0 || has < least) {
				least = has
			}
		}
		if least > 0 {
			need = max(need, (of.all+least-1)/least)
		}
	}
	return int(min(need, math.MaxInt32))
}

// failuresOf returns the expected number of failures of a job's nodes. The job needs so many nodes,
// and may run on any of nodes.
func failuresOf(need int, nodes []placement.Node) float64 {
	sum := 0.
	for _, n := range nodes {
		sum += n.Expected
	}
	return sum * float64(need) / float64(max(need, len(nodes)))
}

// avoided returns the names of the nodes that a job should avoid during a window, if its user and
// the site want that. It also returns by how much this lowers the probability that one of the job's
// nodes fails in the window.
func (h hazard) avoided(c *limits.Cluster, job *workload.Request, req *api.PlanRequest, s window) (names []string, safer float64) {
	named := req.Needs != nil && len(req.Needs.NodeList.Names)+len(req.Needs.Exclude.Names) > 0
	if h.health == nil || named || cmp.Or(req.RiskyNodes, h.risky) != api.RiskyAvoid {
		return nil, 0
	}
	fitting := c.Job(*job, req.Needs).Fitting()
	all := h.candidates(fitting, nil, s)
	need := nodesFor(job, fitting)
	for _, n := range placement.Avoid(all, need) {
		names = append(names, n.Name)
	}
	if len(names) == 0 {
		return nil, 0
	}
	slices.Sort(names)
	rest := slices.DeleteFunc(slices.Clone(all), func(n placement.Node) bool { return slices.Contains(names, n.Name) })
	return names, math.Exp(-failuresOf(need, rest)) - math.Exp(-failuresOf(need, all))
}
