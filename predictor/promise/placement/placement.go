// Package placement chooses the nodes that a job should avoid, because they are likely to fail
// while it runs. This is the fault-aware placement of Oliner, Rudolph, Sahoo, Moreira and Gupta
// (2005), section 4.1, as far as it is possible from outside of the scheduler.
package placement

import (
	"cmp"
	"slices"

	"github.com/varq-project/varq/predictor/cluster/limits"
)

// Node is one that a job may run on, and how many failures of it are expected while the job runs.
type Node struct {
	Name     string
	Expected float64
}

const (
	// spare is how many times as many nodes as the job needs are left at least.
	spare = 2
	// leastTimes is how many times as likely to fail as the mean of those that stay a node must be.
	leastTimes = 4
	// leastExpected is the least number of expected failures for which a node is left out.
	leastExpected = .001
)

// Avoid returns those of the nodes that a job of need nodes is to leave out, the riskiest first:
// limits.Few at most, because the wait would be longer than the forecast with fewer nodes. It takes
// O(n log n) for n nodes.
func Avoid(nodes []Node, need int) []Node {
	most := min(int(limits.Few*float64(len(nodes))), len(nodes)-spare*need)
	if most <= 0 {
		return nil
	}
	sorted := slices.SortedFunc(slices.Values(nodes), func(a, b Node) int {
		return cmp.Or(cmp.Compare(b.Expected, a.Expected), cmp.Compare(a.Name, b.Name))
	})
	rest := 0.
	for _, n := range sorted {
		rest += n.Expected
	}
	left := 0
	for i, n := range sorted[:most] {
		rest -= n.Expected
		if mean := rest / float64(len(sorted)-i-1); n.Expected < leastExpected || n.Expected < leastTimes*mean {
			break
		}
		left = i + 1
	}
	return sorted[:left]
}
