package ingest

import (
	"strings"

	"github.com/varq-project/varq/predictor/cluster/limits"
	"github.com/varq-project/varq/predictor/workload"
)

// order is what a cluster's configuration tells of the order in which it starts jobs.
type order struct {
	aging workload.Aging
	basic bool             // whether priorities only count submissions, see limits.Cluster
	tiers map[string]int64 // of partitions with one above 1, which is Slurm's default
	// limited has the partitions with a QOS of their own.
	limited map[string]bool
}

func orderOf(c *limits.Cluster) order {
	o := order{aging: c.Aging, basic: c.Basic, tiers: map[string]int64{}, limited: map[string]bool{}}
	for name := range c.Partitions {
		p := c.Partitions[name]
		if p.Tier > 1 {
			o.tiers[name] = p.Tier
		}
		if p.QOS != "" {
			o.limited[name] = true
		}
	}
	return o
}

// tierUnit is above all of Slurm's priorities.
const tierUnit = 1 << 32

// read makes of what Slurm says of a job that waits what a workload.Job says: its priority as it
// was when it began to wait, which is higher in a partition of a higher tier, and otherwise the
// same for all where it only counts submissions; and whether its own QOS is full, and not that of
// its partition. A job that may run in several partitions counts as one of the first.
func (o *order) read(j *workload.Job, at int64) {
	partition, _, _ := strings.Cut(j.Partition, ",")
	if j.Priority > 0 {
		if j.Priority = max(1, j.Priority-o.aging.Of(j, at)); o.basic {
			j.Priority = 1
		}
		j.Priority += o.tiers[partition] * tierUnit
	}
	j.QOSFull = j.QOSFull && !o.limited[partition]
}
