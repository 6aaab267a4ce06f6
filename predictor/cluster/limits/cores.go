package limits

import (
	"cmp"
	"slices"

	"github.com/varq-project/varq/predictor/workload"
)

// OnCores returns a request with the CPUs that Slurm counts of a job that uses only some CPUs of
// each core, as with sbatch --hint=nomultithread: all CPUs of as many cores as the job needs. Where
// the nodes that it may have differ, those count on which it has the most. OnCores is called once
// for a request, before Complete.
func (c *Cluster) OnCores(r workload.Request, n *workload.Needs) workload.Request {
	if n == nil {
		return r
	}
	r.CPUs = max(r.CPUs, r.Nodes)
	if n.PerCore == 0 {
		return r
	}
	asked := r
	asked.Nodes, asked.Partition = max(1, r.Nodes), cmp.Or(r.Partition, c.DefaultPartition())
	if c.Reservations.Named(n.Reservation) != nil {
		asked.Reservation = n.Reservation
	}
	s := selection{Job: c.Job(asked, n)}
	if s.nodes = s.known(); s.keepFitting() != nil {
		s.nodes = s.known()
	}
	r.CPUs = clamp(onCores(s.nodes, n.PerCore, int64(r.CPUs), s.mostNodes()))
	return r
}

// onCores returns how many CPUs a job has at most that uses so many, perCore of each core that it
// has, on as many of the nodes as mostNodes. If they have no room for it, that is more than these
// nodes have.
func onCores(nodes []Node, perCore int32, uses int64, mostNodes int) int64 {
	if uses == 0 {
		return 0
	}
	room, threads := make([]int64, len(nodes)), int64(1)
	for i := range nodes {
		room[i], threads = nodes[i].room(perCore), max(threads, nodes[i].Threads)
	}
	if most(room, mostNodes) < uses {
		return whole(uses, perCore, threads)
	}
	least := uses - most(room, mostNodes-1) // of each node, beside all of the others
	nodes = slices.DeleteFunc(slices.Clone(nodes), func(n Node) bool { return n.room(perCore) < least })
	slices.SortStableFunc(nodes, func(a, b Node) int { return cmp.Compare(b.Threads, a.Threads) })
	var cpus []int64
	has := int64(0)
	for i := range nodes {
		cpus = append(cpus, nodes[i].CPUs)
		part := min(uses, nodes[i].room(perCore))
		has, uses = has+whole(part, perCore, nodes[i].Threads), uses-part
	}
	return min(has, most(cpus, mostNodes))
}

// whole returns how many CPUs the cores have of which a job uses so many CPUs, perCore of each.
func whole(uses int64, perCore int32, threads int64) int64 {
	if threads <= int64(perCore) {
		return uses
	}
	return (uses + int64(perCore) - 1) / int64(perCore) * threads
}

// room returns how many CPUs of the node a job can use that uses perCore of each core.
func (n *Node) room(perCore int32) int64 {
	if n.Threads <= int64(perCore) {
		return n.CPUs
	}
	return n.CPUs / n.Threads * int64(perCore)
}
