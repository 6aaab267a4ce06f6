package limits

import "github.com/varq-project/varq/predictor/workload"

// amount is tresOf, extended to the TRES "billing" and to the memory that a job has by default.
func (c *Cluster) amount(r *workload.Request, tres string) int64 {
	switch {
	case tres == "billing":
		return int64(c.billingRate(r))
	case tres == "mem" && r.Memory == 0:
		p := c.Partitions[r.Partition]
		return p.byDefault(int64(r.Nodes), int64(r.CPUs))
	}
	return tresOf(&r.Size, tres)
}

// tresOf returns how much of a TRES a job of this size has, or 0 if a Size does not include the
// TRES.
func tresOf(s *workload.Size, tres string) int64 {
	switch tres {
	case "cpu":
		return int64(s.CPUs)
	case "mem":
		return s.Memory
	case "node":
		return int64(s.Nodes)
	case "gres/gpu":
		return int64(s.GPUs)
	}
	return 0
}
