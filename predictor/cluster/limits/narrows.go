package limits

import "strings"

// Narrows reports whether a constraint, as of sbatch --constraint, leaves out a node of a
// partition, or of one of a list of partitions. One that cannot be read does.
func (c *Cluster) Narrows(partitions, constraint string) bool {
	if constraint == "" {
		return false
	}
	parsed, err := parseConstraint(constraint)
	if err != nil {
		return true
	}
	for partition := range strings.SplitSeq(partitions, ",") {
		for _, name := range c.Partitions[partition].Nodes {
			if n, ok := c.Nodes[name]; ok && !parsed.fits(&n) {
				return true
			}
		}
	}
	return false
}
