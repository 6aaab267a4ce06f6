package limits

import "github.com/varq-project/varq/predictor/workload"

// billingRate returns the billing units that a request is charged for each second that it
// holds its nodes. It is the sum of its TRES, weighted by the partition's TRESBillingWeights, or
// with MaxTRES the largest of them. If the partition sets no weights it is the CPUs.
func (c *Cluster) billingRate(r *workload.Request) float64 {
	weights := c.Partitions[r.Partition].BillingWeights
	if weights == nil {
		return float64(r.CPUs)
	}
	var sum, largest float64
	for _, name := range []string{"cpu", "mem", "node", "gres/gpu"} {
		units := weights[name] * float64(tresOf(&r.Size, name))
		sum += units
		largest = max(largest, units)
	}
	if c.MaxTRES {
		return largest
	}
	return sum
}

// MostBilling returns an upper bound of the billing units that Slurm charges the job for each
// second, on whichever nodes of its partition it runs, times the UsageFactor of its QOS.
func (j *Job) MostBilling() float64 {
	charged := j.Request
	charged.Size = j.mostCharged()
	factor := 1.
	if q := j.cluster.QOS[j.QOS]; q.UsageFactor > 0 {
		factor = q.UsageFactor
	}
	factor = max(factor, j.cluster.QOS[j.partition.QOS].UsageFactor)
	return j.cluster.billingRate(&charged) * factor
}

// mostCharged returns the greatest size that Slurm may charge for the job. It may
// charge a whole core for each CPU asked for, and so many CPUs that none has more than
// MaxMemPerCPU. A job that does not say its memory has the partition's default, or else all of its
// nodes, as one that asks for it. One that is alone has all their CPUs and GPUs. No job has more
// than the largest nodes have.
func (j *Job) mostCharged() workload.Size {
	size := j.Largest()
	if j.cluster.Nodes == nil {
		return size
	}
	p, n := &j.partition, j.needs
	threads := int64(1)
	var cpus, memory, gpus []int64
	for _, name := range p.Nodes {
		node := j.cluster.Nodes[name]
		threads = max(threads, node.Threads)
		cpus, memory, gpus = append(cpus, node.CPUs), append(memory, node.Memory), append(gpus, node.Gres["gpu"])
	}
	nodes := int(size.Nodes)
	all := workload.Size{Nodes: size.Nodes, CPUs: clamp(most(cpus, nodes)), Memory: most(memory, nodes), GPUs: clamp(most(gpus, nodes))}

	if j.alone() || p.GPUDefaults && size.GPUs > 0 {
		size.CPUs, size.GPUs = all.CPUs, all.GPUs
	}
	if size.Memory == 0 && n.NodeMemory.Option == "" {
		size.Memory = p.byDefault(int64(size.Nodes), int64(size.CPUs))
	}
	if size.Memory == 0 || n.AllMemory() || p.GPUDefaults && size.GPUs > 0 {
		size.Memory = all.Memory
	}
	asked, byMemory := size.CPUs, int64(0)
	if p.MaxMemPerCPU > 0 {
		byMemory = (size.Memory+p.MaxMemPerCPU-1)/p.MaxMemPerCPU + int64(size.Nodes-1)
	}
	charged := min(all.CPUs, clamp(max(int64(asked), byMemory)*threads))
	if n.NodeMemory.Option != "--mem" && n.NodeMemory.Option != "--mem-per-gpu" {
		size.Memory = scaled(size.Memory, charged, asked) // it may be that of a CPU
	}
	size.Memory = min(size.Memory, all.Memory)
	if each := int64(n.PerCore); 0 < each && each < threads { // asked has whole cores already
		charged = min(charged, clamp(max(int64(asked)*each, max(byMemory, int64(size.Nodes))*threads)))
	}
	size.CPUs = charged
	return size
}
