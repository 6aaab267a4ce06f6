package limits

import (
	"fmt"
	"slices"

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
		return &Rule{partition + " size", fmt.Sprintf("%s has %d nodes", partition, len(p.Nodes))}
	case p.TotalCPUs > 0 && int64(r.CPUs) > p.TotalCPUs:
		return &Rule{partition + " size", fmt.Sprintf("%s has %d CPUs", partition, p.TotalCPUs)}
	case p.MaxNodes > 0 && nodes > p.MaxNodes && !c.overrides(&r, func(q *QOS) bool { return q.PartitionMaxNodes }):
		return &Rule{partition + " MaxNodes", fmt.Sprintf("%s allows %d nodes a job (MaxNodes)", partition, p.MaxNodes)}
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

// Window is a stretch of time, Start included and End not, in which a request
// cannot run because Slurm reservations leave its partition too few nodes.
type Window struct {
	Start, End int64
	Rule
}

// Blocked returns the windows in which too few nodes of the request's partition
// are outside of Slurm's reservations, in order of time, apart from one
// another. It takes the reserved nodes moment by moment: that the free ones may
// be different nodes at different moments is not taken into account.
func (c *Cluster) Blocked(r workload.Request) []Window {
	mine := map[string]bool{}
	for _, n := range c.Partitions[r.Partition].Nodes {
		mine[n] = true
	}
	var moments []int64
	for _, v := range c.Reservations {
		if v.Start < v.End && slices.ContainsFunc(v.Nodes, func(n string) bool { return mine[n] }) {
			moments = append(moments, v.Start, v.End)
		}
	}
	slices.Sort(moments)
	moments = slices.Compact(moments)
	var windows []Window
	for i := 0; i+1 < len(moments); i++ {
		w := Window{Start: moments[i], End: moments[i+1]}
		taken := map[string]bool{}
		name := ""
		for _, v := range c.Reservations {
			if v.Start > w.Start || v.End < w.End {
				continue
			}
			for _, n := range v.Nodes {
				if mine[n] {
					taken[n] = true
					if name == "" {
						name = v.Name
					}
				}
			}
		}
		if len(mine)-len(taken) >= int(r.Nodes) {
			continue
		}
		if last := len(windows) - 1; last >= 0 && windows[last].End == w.Start {
			windows[last].End = w.End
			continue
		}
		w.Rule = Rule{
			Name: "reservation " + name,
			Says: fmt.Sprintf("reservation %s leaves partition %s %d of %d nodes", name, r.Partition, len(mine)-len(taken), len(mine)),
		}
		windows = append(windows, w)
	}
	return windows
}
