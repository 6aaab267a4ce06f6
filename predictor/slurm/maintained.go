package slurm

import (
	"slices"
	"strings"

	"github.com/varq-project/varq/predictor/cluster/limits"
)

// Maintained returns the nodes as they are to be after the maintenance that some are in at a time.
// A maintenance is there to have nodes down and rebooted, and its reservation (Slurm's flag MAINT)
// tells when it ends. So a node of theirs that has gone down since it began is up; if it is still
// down at the end, it counts as such from then on. A node that was down before stays so, as does
// one that is drained or has failed: nobody has said when it comes back. The reservations are as of
// limits.Cluster.Repeat.
func Maintained(nodes []Node, reservations []limits.Reservation, now int64) []Node {
	since := map[string]int64{}
	for i := range reservations {
		v := &reservations[i]
		if span, begun := v.Begun(now); begun && v.Maintenance {
			for _, name := range v.Nodes {
				since[name] = span.Start
			}
		}
	}
	if len(since) == 0 {
		return nodes
	}
	nodes = slices.Clone(nodes)
	for i := range nodes {
		n := &nodes[i]
		begun, in := since[n.Name]
		words := strings.Split(n.State, "+")
		if !in || n.ReasonAt != 0 && n.ReasonAt < begun || slices.ContainsFunc(broken, func(word string) bool { return slices.Contains(words, word) }) {
			continue
		}
		n.Up, n.Drained = true, slices.Contains(words, "DRAIN") // and not by a reboot
	}
	return nodes
}

// broken are the states of nodes that no maintenance is known to end.
var broken = []string{"ERROR", "FAIL", "FUTURE", "DYNAMIC_FUTURE", "INVALID", "INVALID_REG", "BLOCKED", "POWER_DRAIN"}
