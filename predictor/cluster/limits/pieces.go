package limits

import "github.com/varq-project/varq/predictor/workload"

// Pieces returns what the job needs of single nodes, as far as its request and its needs tell. The
// first of these cases applies:
//
//   - The job shares its nodes with no job, or only with jobs of the same user: whole nodes.
//   - It runs on one node: one piece, with all that the job asks for.
//   - It runs on a known number of nodes: a piece on each, with what the node has at least even if
//     the job has all of its other nodes.
//   - Its tasks have several CPUs, and a core has one: a piece for each task, with its CPUs.
//
// Otherwise Pieces returns no pieces.
func (j *Job) Pieces() workload.Pieces {
	if !j.needy {
		return j.cluster.Takes().Pieces(j.Request, nil)
	}
	return j.cluster.Takes().Pieces(j.Request, j.needs)
}

// Pieces is Job.Pieces of a complete request. n are its needs, or nil if they are not known.
func (t *Takes) Pieces(r workload.Request, n *workload.Needs) workload.Pieces {
	nodes, nodeCPUs := max(1, r.Nodes), int32(1)
	if n != nil {
		nodeCPUs = max(1, clamp(n.NodeCPUs.Amount))
	}
	p := t.cluster.Partitions[r.Partition]
	switch {
	case p.alone(n) || p.UserNodes:
		return workload.Pieces{Count: nodes, Exclusive: true}
	case n == nil:
		return workload.Pieces{}
	case n.MostNodes == 0 && nodes > 1:
		return workload.Pieces{}
	case n.MostNodes <= 1:
		return workload.Pieces{Count: 1, Each: workload.Size{CPUs: max(t.CPUs(r), t.wholeCores(r.Place(), nodeCPUs)), GPUs: r.GPUs, Memory: t.Memory(r)}}
	case n.MostNodes <= nodes:
		most := t.of(r.Place()).most
		// beside all of the others
		rest := func(all int32, of int64) int32 { return all - clamp(int64(nodes-1)*of) }
		return workload.Pieces{Count: nodes, Each: workload.Size{
			CPUs:   max(t.wholeCores(r.Place(), nodeCPUs), rest(t.CPUs(r), most.CPUs)),
			GPUs:   max(gpusPerNode(n), rest(r.GPUs, most.GPUs)),
			Memory: t.nodeMemory(&r, n),
		}}
	case n.NodeCPUs.Option == "--cpus-per-task" && nodeCPUs > 1 && t.wholeCores(r.Place(), 1) == 1:
		// Where cores have several CPUs, Slurm counts those of all tasks together.
		return workload.Pieces{Count: r.CPUs / nodeCPUs, Each: workload.Size{CPUs: nodeCPUs}}
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
func (t *Takes) nodeMemory(r *workload.Request, n *workload.Needs) int64 {
	switch {
	case !t.cluster.Partitions[r.Partition].ConsumableMemory:
		return 0
	case n.NodeMemory.Option == "--mem":
		return t.Memory(*r) / int64(r.Nodes)
	}
	return n.NodeMemory.Amount
}
