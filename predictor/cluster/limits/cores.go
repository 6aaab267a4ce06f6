package limits

import "github.com/varq-project/varq/predictor/workload"

// CPUsOf returns the CPUs that a job takes from others at least: those that it asks for, or gets for its
// memory, in whole cores. No two jobs share a core.
func (c *Cluster) CPUsOf(r workload.Request) int32 {
	cpus := r.CPUs
	if most := c.Partitions[r.Partition].MaxMemPerCPU; most > 0 {
		cpus = max(cpus, clamp((r.Memory+most-1)/most))
	}
	return c.wholeCores(r.Partition, cpus)
}

// wholeCores rounds CPUs up to whole cores of those nodes of a partition whose cores have the fewest
// CPUs.
func (c *Cluster) wholeCores(partition string, cpus int32) int32 {
	threads := int64(0)
	for _, name := range c.Partitions[partition].Nodes {
		if of := max(1, c.Nodes[name].Threads); threads == 0 || of < threads {
			threads = of
		}
	}
	if threads <= 1 {
		return cpus
	}
	return clamp((int64(cpus) + threads - 1) / threads * threads)
}
