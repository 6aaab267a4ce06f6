package limits

import "strings"

// Narrows reports whether a constraint, as of sbatch --constraint, or the names of nodes that a job
// must not have leave out more than Few of the nodes of a partition, or of one of a list of
// partitions. A constraint that cannot be read does.
func (c *Cluster) Narrows(partitions, constraint string, excluded []string) bool {
	lacks := func(string) bool { return false }
	if constraint != "" {
		parsed, err := parseConstraint(constraint)
		if err != nil {
			return true
		}
		lacks = func(name string) bool { n, ok := c.Nodes[name]; return ok && !parsed.fits(&n) }
	}
	out := make(map[string]bool, len(excluded))
	for _, name := range excluded {
		out[name] = true
	}
	for partition := range strings.SplitSeq(partitions, ",") {
		nodes, left := c.Partitions[partition].Nodes, 0
		for _, name := range nodes {
			if !out[name] && !lacks(name) {
				continue
			}
			if left++; !few(left, len(nodes)) {
				return true
			}
		}
	}
	return false
}
