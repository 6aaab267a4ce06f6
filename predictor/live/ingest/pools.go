package ingest

import (
	"slices"
	"strings"

	"github.com/varq-project/varq/predictor/cluster/limits"
	"github.com/varq-project/varq/predictor/forecast/twin"
	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/workload"
)

// pools are the pools by partition: those of partitions that share nodes, directly or through
// others. A pool has the name of the first of its partitions, by name. Its nodes are those that
// jobs can start on; the CPUs, GPUs and memory are also of those that jobs only run on still.
// pools are nil if nothing is known of nodes.
type pools map[string]twin.Pool

// lookup returns the pools as a twin.Pools, or nil if there are none. If a job may run in
// several partitions, its pool is that of the first that is known.
func (p pools) lookup() twin.Pools {
	if len(p) == 0 {
		return nil
	}
	return func(partition string) twin.Pool {
		for name := range strings.SplitSeq(partition, ",") {
			if found, ok := p[name]; ok {
				return found
			}
		}
		return twin.Pool{}
	}
}

// idle reports whether no job runs on a node.
func idle(n *slurm.Node) bool { return strings.HasPrefix(n.State, "IDLE") }

// reserved reports whether one of Slurm's own reservations has a node now, on which no job runs. One that floats never begins.
func reserved(n *slurm.Node, floats map[string]bool) bool {
	flags := strings.Split(n.State, "+")
	return idle(n) && !floats[n.Name] && (n.Maintenance || slices.Contains(flags, "RESERVED"))
}

// poolsOf returns the pool of each partition.
func poolsOf(c *limits.Cluster, nodes []slurm.Node) pools {
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
	ofPool, ofPartition, kept, floats := map[string]workload.Size{}, map[string]workload.Size{}, map[string]int32{}, floating(c)
	own := map[string][]twin.Node{}
	for i := range nodes {
		if n := &nodes[i]; n.Up && (!n.Drained || !idle(n)) && len(n.Partitions) > 0 {
			grow(ofPool, root(n.Partitions[0]), n)
			if reserved(n, floats) {
				kept[root(n.Partitions[0])] += n.CPUs
			}
			for _, name := range n.Partitions {
				grow(ofPartition, name, n)
				own[name] = append(own[name], twin.Node{Name: n.Name, Size: sizeOf(n)})
			}
		}
	}
	list := pools{}
	for name := range parents {
		p := twin.Pool{Name: root(name), Size: ofPool[root(name)], Reserved: kept[root(name)], Own: ofPartition[name], Nodes: own[name], WholeNodes: c.Partitions[name].WholeNodes}
		if !c.Partitions[name].ConsumableMemory {
			p.Size.Memory, p.Own.Memory = 0, 0
		}
		list[name] = p
	}
	return list
}

// sizeOf returns the size of a node. Its Nodes are 0 if it is drained.
func sizeOf(n *slurm.Node) workload.Size {
	size := workload.Size{Nodes: 1, CPUs: n.CPUs, GPUs: n.GPUs, Memory: n.Memory}
	if n.Drained {
		size.Nodes = 0
	}
	return size
}

// grow adds a node to the size of a name.
func grow(sizes map[string]workload.Size, name string, n *slurm.Node) {
	s, by := sizes[name], sizeOf(n)
	sizes[name] = workload.Size{Nodes: s.Nodes + by.Nodes, CPUs: s.CPUs + by.CPUs, GPUs: s.GPUs + by.GPUs, Memory: s.Memory + by.Memory}
}
