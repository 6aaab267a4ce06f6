package limits

import "github.com/varq-project/varq/predictor/workload"

// Takes tells what jobs take from others at least. It looks at the nodes of each place once,
// and so serves many jobs, but only one goroutine, and only as long as the Cluster does not change.
type Takes struct {
	cluster *Cluster
	sizes   map[workload.Place]sizes
}

// sizes are what each node of a place has at least, and at most.
type sizes struct {
	threads int64 // CPUs of a core, at least
	memory  int64 // MiB, at least
	cpus    int64 // at least
	most    struct{ CPUs, GPUs int64 }
}

// Takes returns a new Takes.
func (c *Cluster) Takes() *Takes { return &Takes{c, map[workload.Place]sizes{}} }

// of returns the sizes of the nodes of a place.
func (t *Takes) of(place workload.Place) sizes {
	if known, ok := t.sizes[place]; ok {
		return known
	}
	var s sizes
	for i, name := range t.cluster.nodesAt(place) {
		n := t.cluster.Nodes[name]
		if threads := max(1, n.Threads); i == 0 || threads < s.threads {
			s.threads = threads
		}
		if s.cpus == 0 || n.CPUs < s.cpus {
			s.cpus = n.CPUs
		}
		if s.memory == 0 || n.Memory < s.memory {
			s.memory = n.Memory
		}
		s.most.CPUs, s.most.GPUs = max(s.most.CPUs, n.CPUs), max(s.most.GPUs, n.Gres["gpu"])
	}
	t.sizes[place] = s
	return s
}

// CPUs returns the CPUs that a job takes: those that it asks for, or gets for its memory, in whole
// cores. No two jobs share a core.
func (t *Takes) CPUs(r workload.Request) int32 {
	cpus := r.CPUs
	if most := t.cluster.Partitions[r.Partition].MaxMemPerCPU; most > 0 {
		cpus = max(cpus, clamp((r.Memory+most-1)/most))
	}
	return t.wholeCores(r.Place(), cpus)
}

// Nodes returns on how many nodes a job is at most for the CPUs that it takes: if all nodes were as
// the smallest of its place.
func (t *Takes) Nodes(r workload.Request) int32 {
	each := max(1, t.of(r.Place()).cpus)
	return clamp((int64(t.CPUs(r)) + each - 1) / each)
}

// wholeCores rounds CPUs up to whole cores of those nodes of a place whose cores have the fewest
// CPUs.
func (t *Takes) wholeCores(place workload.Place, cpus int32) int32 {
	threads := max(1, t.of(place).threads)
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

// allMemory returns the memory, in MiB, of as many nodes as a request names, if all are as the
// smallest that it may have.
func (t *Takes) allMemory(r *workload.Request) int64 {
	return t.of(r.Place()).memory * int64(r.Nodes)
}
