package desk

import (
	"cmp"
	"strings"

	"github.com/varq-project/varq/predictor/cluster/limits"
	"github.com/varq-project/varq/predictor/workload"
)

// rank is the place of a job that waits in Slurm's order: by the tier of its partition, and then by
// priority. Jobs of one rank go as they came.
type rank struct{ tier, priority int64 }

// rankOf returns the rank of a job now.
func rankOf(c *limits.Cluster, j *workload.Job, now int64) rank {
	partition, _, _ := strings.Cut(j.Partition, ",")
	return rank{c.Partitions[partition].Tier, j.Priority + c.Aging.Of(j, now)}
}

// compare is negative if a goes before b.
func (a rank) compare(b rank) int {
	return cmp.Or(cmp.Compare(b.tier, a.tier), cmp.Compare(b.priority, a.priority))
}
