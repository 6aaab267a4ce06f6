package ingest

import (
	"strings"

	"github.com/varq-project/varq/predictor/forecast/twin"
	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/workload"
)

// pool is the processors of partitions that share nodes, directly or through others.
type pool struct {
	name          string // the first of the partitions, by name
	workload.Size        // nodes that jobs run on, or can start on, and their CPUs and GPUs
}

// pools are the pools by partition. They are nil if nothing is known of nodes.
type pools map[string]pool

// lookup returns the pools as a twin.Pools, or nil if there are none. If a job may run in
// several partitions, its pool is that of the first that is known.
func (p pools) lookup() twin.Pools {
	if len(p) == 0 {
		return nil
	}
	return func(partition string) (string, workload.Size) {
		for name := range strings.SplitSeq(partition, ",") {
			if found, ok := p[name]; ok {
				return found.name, found.Size
			}
		}
		return "", workload.Size{}
	}
}

// idle reports whether no job runs on a node.
func idle(n *slurm.Node) bool { return strings.HasPrefix(n.State, "IDLE") }

// poolsOf returns the pool of each partition.
func poolsOf(nodes []slurm.Node) pools {
	// parents is a forest (union-find): the root of a partition names its pool. No
	// parent's name comes after that of its child.
	parents := map[string]string{}
	root := func(name string) string {
		for parents[name] != name {
			name = parents[name]
		}
		return name
	}
	for i := range nodes {
		for _, name := range nodes[i].Partitions {
			if parents[name] == "" {
				parents[name] = name
			}
			a, b := root(nodes[i].Partitions[0]), root(name)
			parents[max(a, b)] = min(a, b)
		}
	}
	byRoot := pools{}
	for i := range nodes {
		if n := &nodes[i]; n.Up && (!n.Drained || !idle(n)) && len(n.Partitions) > 0 {
			p := byRoot[root(n.Partitions[0])]
			p.Nodes, p.CPUs, p.GPUs = p.Nodes+1, p.CPUs+n.CPUs, p.GPUs+n.GPUs
			byRoot[root(n.Partitions[0])] = p
		}
	}
	list := pools{}
	for name := range parents {
		p := byRoot[root(name)]
		p.name = root(name)
		list[name] = p
	}
	return list
}
