package limits

import (
	"fmt"
	"slices"

	"github.com/varq-project/varq/predictor/workload"
)

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
