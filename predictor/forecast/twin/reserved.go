package twin

import (
	"iter"
	"slices"

	"github.com/varq-project/varq/predictor/workload"
)

// reserved is when Slurm's own reservations have nodes alone, by node: the spans do not overlap.
// The job that runs on a node then takes nothing besides, because the reservation has all of it.
type reserved map[string][]span

// span is from start on, until end.
type span struct{ start, end int64 }

// reservedBy returns when the claims have nodes alone.
func reservedBy(claims []workload.Claim) reserved {
	r := reserved{}
	for i := range claims {
		c := &claims[i]
		if !c.Alone() {
			continue
		}
		for _, name := range c.Names {
			r[name] = append(r[name], span{c.From, c.From + c.Limit})
		}
	}
	return r
}

// any reports whether any of some nodes is reserved at some time.
func (r reserved) any(nodes []string) bool {
	return len(r) > 0 && slices.ContainsFunc(nodes, func(name string) bool { return len(r[name]) > 0 })
}

// part is what an occupant has on some of its nodes, and when.
type part struct {
	occupant
	nodes []string // as far as they are known
}

// beside yields what an occupant of some nodes has beside the reservations: in parts one after the
// other, each on those nodes that are not reserved then, and an equal share of it on each node.
func (r reserved) beside(c occupant, nodes []string) iter.Seq[part] {
	return func(yield func(part) bool) {
		if !r.any(nodes) {
			yield(part{c, nodes})
			return
		}
		for _, p := range r.parts(c, nodes) {
			if !yield(p) {
				return
			}
		}
	}
}

// parts returns what beside yields.
func (r reserved) parts(c occupant, nodes []string) (parts []part) {
	cuts := []int64{c.start, c.until}
	for _, name := range nodes {
		for _, s := range r[name] {
			cuts = append(cuts, s.start, s.end)
		}
	}
	slices.Sort(cuts)
	cuts = slices.Compact(cuts)
	for i, until := range cuts[1:] {
		start := cuts[i]
		if start < c.start || until > c.until {
			continue
		}
		p := part{occupant: c, nodes: r.free(nodes, start)}
		p.start, p.until = start, until
		n, of := int64(len(p.nodes)), int64(len(nodes))
		p.size.CPUs, p.size.GPUs, p.size.Memory = int32(int64(c.size.CPUs)*n/of), int32(int64(c.size.GPUs)*n/of), c.size.Memory*n/of
		if n > 0 {
			parts = append(parts, p)
		}
	}
	return parts
}

// free returns those nodes that are not reserved at a time.
func (r reserved) free(nodes []string, at int64) []string {
	return slices.DeleteFunc(slices.Clone(nodes), func(name string) bool {
		return slices.ContainsFunc(r[name], func(s span) bool { return s.start <= at && at < s.end })
	})
}
