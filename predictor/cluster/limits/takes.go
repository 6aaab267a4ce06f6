package limits

import "github.com/varq-project/varq/predictor/workload"

// Takes tells what jobs take from others at least. It looks at the nodes of each partition once,
// and so serves many jobs, but only one goroutine, and only as long as the Cluster does not change.
type Takes struct {
	cluster *Cluster
	sizes   map[string]sizes
}

// sizes are what each node of a partition has at least, and at most.
type sizes struct {
	threads int64 // CPUs of a core, at least
	memory  int64 // MiB, at least
	most    struct{ CPUs, GPUs int64 }
}

// Takes returns a new Takes.
func (c *Cluster) Takes() *Takes { return &Takes{c, map[string]sizes{}} }

// of returns the sizes of a partition's nodes.
func (t *Takes) of(partition string) sizes {
	if known, ok := t.sizes[partition]; ok {
		return known
	}
	var s sizes
	for i, name := range t.cluster.Partitions[partition].Nodes {
		n := t.cluster.Nodes[name]
		if threads := max(1, n.Threads); i == 0 || threads < s.threads {
			s.threads = threads
		}
		if s.memory == 0 || n.Memory < s.memory {
			s.memory = n.Memory
		}
		s.most.CPUs, s.most.GPUs = max(s.most.CPUs, n.CPUs), max(s.most.GPUs, n.Gres["gpu"])
	}
	t.sizes[partition] = s
	return s
}

// CPUs returns the CPUs that a job takes: those that it asks for, or gets for its memory, in whole
// cores. No two jobs share a core.
func (t *Takes) CPUs(r workload.Request) int32 {
	cpus := r.CPUs
	if most := t.cluster.Partitions[r.Partition].MaxMemPerCPU; most > 0 {
		cpus = max(cpus, clamp((r.Memory+most-1)/most))
	}
	return t.wholeCores(r.Partition, cpus)
}

// wholeCores rounds CPUs up to whole cores of those nodes of a partition whose cores have the
// fewest CPUs.
func (t *Takes) wholeCores(partition string, cpus int32) int32 {
	threads := max(1, t.of(partition).threads)
	return clamp((int64(cpus) + threads - 1) / threads * threads)
}

// Memory returns the memory, in MiB, that a job takes: what it asks for, or has by default, or all
// of as many nodes as it asks for. It is 0 where jobs share memory. The request is complete.
func (t *Takes) Memory(r workload.Request) int64 {
	p := t.cluster.Partitions[r.Partition]
	if !p.ConsumableMemory {
		return 0
	}
	if asked := t.cluster.amount(&r, "mem"); asked > 0 {
		return asked
	}
	return t.allMemory(&r)
}

// allMemory returns the memory, in MiB, of as many nodes of the partition as a request names, if
// all are as its smallest.
func (t *Takes) allMemory(r *workload.Request) int64 {
	return t.of(r.Partition).memory * int64(r.Nodes)
}
