package limits

import "github.com/varq-project/varq/predictor/workload"

// OnCores returns a request with the CPUs that Slurm counts of a job that uses only some CPUs of
// each core, as with sbatch --hint=nomultithread: all CPUs of as many cores as the job needs. Where
// the nodes of its partition differ, those whose cores have the most CPUs count. OnCores is called
// once for a request, before Complete.
func (c *Cluster) OnCores(r workload.Request, n *workload.Needs) workload.Request {
	if n == nil {
		return r
	}
	partition := r.Partition
	if partition == "" {
		partition = c.defaultPartition()
	}
	r.CPUs = clamp(c.onCores(partition, n, int64(max(r.CPUs, r.Nodes))))
	return r
}

// onCores returns how many CPUs a job with needs has if it uses so many.
func (c *Cluster) onCores(partition string, n *workload.Needs, uses int64) int64 {
	perCore, threads := int64(n.PerCore), int64(0)
	if perCore == 0 || uses == 0 {
		return uses
	}
	for _, name := range c.Partitions[partition].Nodes {
		threads = max(threads, c.Nodes[name].Threads)
	}
	if threads <= perCore {
		return uses
	}
	return (uses + perCore - 1) / perCore * threads
}
