package limits

import "github.com/varq-project/varq/predictor/workload"

// Pieces returns what a job needs of single nodes, as far as the parts of its submission tell: whole
// nodes if it is alone on them; otherwise all that it asks for if that is on one node, or what each
// of its nodes must have, or the CPUs of its tasks. The request is complete.
func (c *Cluster) Pieces(r workload.Request, n *workload.Needs) workload.Pieces {
	nodes := max(1, r.Nodes)
	switch {
	case c.Alone(r, n):
		return workload.Pieces{Count: nodes, Exclusive: true}
	case n == nil:
		return workload.Pieces{}
	case n.MostNodes <= 1:
		return workload.Pieces{Count: 1, Each: workload.Size{CPUs: max(1, c.CPUsOf(r)), GPUs: r.GPUs, Memory: c.MemoryOf(r)}}
	case n.MostNodes <= nodes:
		return workload.Pieces{Count: nodes, Each: workload.Size{CPUs: c.wholeCores(r.Partition, int32(max(1, n.NodeCPUs.Amount))), GPUs: gpusPerNode(n), Memory: c.nodeMemory(&r, n)}}
	case n.NodeCPUs.Option == "--cpus-per-task" && n.NodeCPUs.Amount > 1:
		return workload.Pieces{Count: r.CPUs / int32(n.NodeCPUs.Amount), Each: workload.Size{CPUs: int32(n.NodeCPUs.Amount)}}
	}
	return workload.Pieces{}
}

// gpusPerNode returns how many GPUs each node must have.
func gpusPerNode(n *workload.Needs) int32 {
	most := int64(0)
	for _, g := range n.Gres {
		if g.Name == "gpu" && g.PerNode {
			most = max(most, g.Count)
		}
	}
	return int32(most)
}

// nodeMemory returns the memory, in MiB, that a job takes of each of its nodes at least.
func (c *Cluster) nodeMemory(r *workload.Request, n *workload.Needs) int64 {
	switch {
	case !c.Partitions[r.Partition].ConsumableMemory:
		return 0
	case n.NodeMemory.Option == "--mem":
		return c.MemoryOf(*r) / int64(r.Nodes)
	}
	return n.NodeMemory.Amount
}
