package limits

import "github.com/varq-project/varq/predictor/workload"

// BillingRate returns the billing units that the request is charged for each second that it
// holds its nodes. It is the sum of its TRES, weighted by the partition's TRESBillingWeights, or
// with MaxTRES the largest of them. If the partition sets no weights it is the CPUs.
func (c *Cluster) BillingRate(r workload.Request) float64 {
	weights := c.Partitions[r.Partition].BillingWeights
	if weights == nil {
		return float64(r.CPUs)
	}
	var sum, largest float64
	for _, name := range []string{"cpu", "mem", "node", "gres/gpu"} {
		units := weights[name] * float64(amount(r.Size, name))
		sum += units
		largest = max(largest, units)
	}
	if c.MaxTRES {
		return largest
	}
	return sum
}

// amount returns how much of a TRES a job of this size has, or 0 if a Size does not include the
// TRES.
func amount(s workload.Size, tres string) int64 {
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
