package limits

import (
	"fmt"

	"github.com/varq-project/varq/predictor/workload"
)

// CheckSize returns nil when a job as large as the request can ever run, and
// the rule against it otherwise: the partition has fewer nodes or CPUs, or its
// MaxNodes, or MaxTRES or GrpTRES of a QOS or an association forbid it, with
// the precedence of MaxLimit.
func (c *Cluster) CheckSize(r workload.Request) *Rule {
	p := c.Partitions[r.Partition]
	partition := "partition " + r.Partition
	switch nodes := int64(r.Nodes); {
	case nodes > int64(len(p.Nodes)):
		return &Rule{partition + " size", fmt.Sprintf("%s has %s", partition, count(len(p.Nodes), "node"))}
	case p.TotalCPUs > 0 && int64(r.CPUs) > p.TotalCPUs:
		return &Rule{partition + " size", fmt.Sprintf("%s has %s", partition, count(p.TotalCPUs, "CPU"))}
	case p.MaxNodes > 0 && nodes > p.MaxNodes && !c.overrides(&r, func(q *QOS) bool { return q.PartitionMaxNodes }):
		return &Rule{partition + " MaxNodes", fmt.Sprintf("%s allows %s a job (MaxNodes)", partition, count(p.MaxNodes, "node"))}
	}
	all := append(c.qos(&r), c.associations(&r)...)
	for _, kind := range []struct {
		name string
		of   func(*JobLimits) TRES
	}{
		{"MaxTRES", func(l *JobLimits) TRES { return l.MaxTRES }},
		{"GrpTRES", func(l *JobLimits) TRES { return l.GrpTRES }},
	} {
		for _, tres := range names(all, kind.of) {
			h, ok := first(all, func(h holder) bool { return has(kind.of(h.JobLimits), tres) })
			if most := kind.of(h.JobLimits)[tres]; ok && c.size(r, tres) > most {
				setting := kind.name + "=" + tres
				return &Rule{h.name + " " + setting, fmt.Sprintf("%s allows %d %s (%s)", h.name, most, tres, setting)}
			}
		}
	}
	return nil
}

// count writes a number of things.
func count[N int | int64](n N, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
