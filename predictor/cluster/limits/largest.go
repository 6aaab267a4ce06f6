package limits

import (
	"math"
	"slices"

	"github.com/varq-project/varq/predictor/workload"
)

// Largest returns the largest size that the job may be given, which is what it costs at most. Slurm
// may spread a job that leaves its number of nodes open over more of them than it needs; each has a
// CPU of it at least, and all that the job asks for by the node. A job that is alone on its nodes
// has all their CPUs.
func (j *Job) Largest() workload.Size {
	size, n, whole := j.Size, j.needs, j.alone()
	size.Nodes = max(j.Nodes, j.spread(whole))
	size.CPUs = max(size.CPUs, clamp(int64(size.Nodes)*max(1, n.NodeCPUs.Amount)))
	if whole {
		size.CPUs = max(size.CPUs, j.wholeNodes(size.Nodes))
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
		size.Memory = scaled(size.Memory, size.CPUs, j.CPUs)
	case "--mem-per-gpu":
		size.Memory = scaled(size.Memory, size.GPUs, j.GPUs)
	}
	return size
}

// spread returns the greatest number of nodes that Slurm may give to the job. Of whole nodes it
// takes no more than suffice, whichever they are.
func (j *Job) spread(whole bool) int32 {
	p, n := &j.partition, j.needs
	most := min(int(n.MostNodes), len(p.Nodes))
	if p.MaxNodes > 0 && !j.overrides(func(q *QOS) bool { return q.PartitionMaxNodes }) {
		most = min(most, int(p.MaxNodes))
	}
	if !whole || j.cluster.Nodes == nil {
		return int32(most)
	}
	var cores, memory, gpus []int64
	unit := max(1, n.NodeCPUs.Amount) // of CPUs, all on one node
	for _, name := range p.Nodes {
		node := j.cluster.Nodes[name]
		cores = append(cores, node.CPUs/max(1, node.Threads)/unit*unit)
		memory = append(memory, node.Memory)
		gpus = append(gpus, node.Gres["gpu"])
	}
	enough := max(suffice(cores, int64(j.CPUs)), suffice(gpus, int64(j.GPUs)))
	if n.NodeMemory.Option != "--mem" {
		enough = max(enough, suffice(memory, j.Memory))
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
