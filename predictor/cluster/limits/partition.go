package limits

import "github.com/varq-project/varq/predictor/workload"

// alone reports whether jobs of a partition share their nodes with no other job, if they have these
// needs.
func (p *Partition) alone(n *workload.Needs) bool { return p.WholeNodes || n != nil && n.Exclusive }

// index returns the places of those nodes for which ok returns true, in the list of the partition's
// nodes.
func (p *Partition) index(ok func(name string) bool) map[string]int {
	nodes := make(map[string]int, len(p.Nodes))
	for i, name := range p.Nodes {
		if ok(name) {
			nodes[name] = i
		}
	}
	return nodes
}

// names returns the set of the names of the partition's nodes.
func (p *Partition) names() map[string]bool {
	names := make(map[string]bool, len(p.Nodes))
	for _, name := range p.Nodes {
		names[name] = true
	}
	return names
}
