package limits

import (
	"math"
	"slices"

	"github.com/varq-project/varq/predictor/workload"
)

// Largest returns the largest size that a job of the request may be given, which is what it costs
// at most. Slurm may spread a job that leaves its number of nodes open over more of them than it
// needs; each has a CPU of it at least, and all that the job asks for by the node. A job that is
// alone on its nodes has all their CPUs. The request is complete.
func (c *Cluster) Largest(r workload.Request, n *workload.Needs) workload.Size {
	if n == nil {
		n = &workload.Needs{}
	}
	size := r.Size
	whole := c.Alone(r, n)
	size.Nodes = max(r.Nodes, c.spread(&r, n, whole))
	size.CPUs = max(size.CPUs, clamp(int64(size.Nodes)*max(1, n.NodeCPUs.Amount)))
	if whole {
		open := r
		open.Nodes = size.Nodes
		size.CPUs = max(size.CPUs, c.WholeNodes(open))
	}
	perNode := int64(0)
	for i := range n.Gres {
		if g := &n.Gres[i]; g.Name == "gpu" && g.PerNode {
			perNode += g.Count
		}
	}
	size.GPUs = max(size.GPUs, clamp(int64(size.Nodes)*perNode))
	switch need := n.NodeMemory; need.Option {
	case "--mem":
		size.Memory = max(size.Memory, int64(size.Nodes)*need.Amount)
	case "--mem-per-cpu":
		size.Memory = scaled(size.Memory, size.CPUs, r.CPUs)
	case "--mem-per-gpu":
		size.Memory = scaled(size.Memory, size.GPUs, r.GPUs)
	}
	return size
}

// spread returns the greatest number of nodes that Slurm may give to the job. Of whole nodes it
// takes no more than suffice, whichever they are.
func (c *Cluster) spread(r *workload.Request, n *workload.Needs, whole bool) int32 {
	p := c.Partitions[r.Partition]
	most := min(int(n.MostNodes), len(p.Nodes))
	if p.MaxNodes > 0 && !c.overrides(r, func(q *QOS) bool { return q.PartitionMaxNodes }) {
		most = min(most, int(p.MaxNodes))
	}
	if !whole || c.Nodes == nil {
		return int32(most)
	}
	var cores, memory, gpus []int64
	unit := max(1, n.NodeCPUs.Amount) // of CPUs, all on one node
	for _, name := range p.Nodes {
		node := c.Nodes[name]
		cores = append(cores, node.CPUs/max(1, node.Threads)/unit*unit)
		memory = append(memory, node.Memory)
		gpus = append(gpus, node.Gres["gpu"])
	}
	enough := max(suffice(cores, int64(r.CPUs)), suffice(gpus, int64(r.GPUs)))
	if n.NodeMemory.Option != "--mem" {
		enough = max(enough, suffice(memory, r.Memory))
	}
	return int32(min(most, enough))
}

// suffice returns how many of the nodes with these amounts have need together, whichever they are.
func suffice(amounts []int64, need int64) int {
	slices.Sort(amounts)
	for i, a := range amounts {
		if need <= 0 {
			return i
		}
		need -= a
	}
	return len(amounts)
}

// scaled returns amount * to / from.
func scaled(amount int64, to, from int32) int64 {
	if from <= 0 {
		return amount
	}
	return int64(float64(amount) * float64(to) / float64(from))
}

func clamp(n int64) int32 { return int32(min(n, math.MaxInt32)) }
