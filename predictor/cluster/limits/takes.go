package limits

import "github.com/varq-project/varq/predictor/workload"

// Takes tells what jobs take from others at least. It looks at the nodes of each partition once, and so
// serves many jobs, but only one goroutine, and only as long as the Cluster does not change.
type Takes struct {
	cluster *Cluster
	least   map[string]least
}

// least is what each node of a partition has at least.
type least struct {
	threads int64 // CPUs of a core
	memory  int64 // MiB
}

// Takes returns a new Takes.
func (c *Cluster) Takes() *Takes { return &Takes{c, map[string]least{}} }

// of returns what each node of a partition has at least.
func (t *Takes) of(partition string) least {
	if known, ok := t.least[partition]; ok {
		return known
	}
	var l least
	for i, name := range t.cluster.Partitions[partition].Nodes {
		n := t.cluster.Nodes[name]
		if threads := max(1, n.Threads); i == 0 || threads < l.threads {
			l.threads = threads
		}
		if l.memory == 0 || n.Memory < l.memory {
			l.memory = n.Memory
		}
	}
	t.least[partition] = l
	return l
}

// CPUs returns the CPUs that a job takes: those that it asks for, or gets for its memory, in whole cores.
// No two jobs share a core.
func (t *Takes) CPUs(r workload.Request) int32 {
	cpus := r.CPUs
	if most := t.cluster.Partitions[r.Partition].MaxMemPerCPU; most > 0 {
		cpus = max(cpus, clamp((r.Memory+most-1)/most))
	}
	return t.wholeCores(r.Partition, cpus)
}

// wholeCores rounds CPUs up to whole cores of those nodes of a partition whose cores have the fewest
// CPUs.
func (t *Takes) wholeCores(partition string, cpus int32) int32 {
	threads := max(1, t.of(partition).threads)
	return clamp((int64(cpus) + threads - 1) / threads * threads)
}

// Memory returns the memory, in MiB, that a job takes: what it asks for, or has by default, or all of as
// many nodes as it asks for. It is 0 where jobs share memory. The request is complete.
func (t *Takes) Memory(r workload.Request) int64 {
	p := t.cluster.Partitions[r.Partition]
	if !p.ConsumableMemory {
		return 0
	}
	if asked := t.cluster.size(r, "mem"); asked > 0 {
		return asked
	}
	return t.allMemory(&r)
}

// allMemory returns the memory, in MiB, of as many nodes of the partition as a request names, if all
// are as its smallest.
func (t *Takes) allMemory(r *workload.Request) int64 {
	return t.of(r.Partition).memory * int64(r.Nodes)
}
