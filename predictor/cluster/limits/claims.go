package limits

import (
	"cmp"
	"maps"
	"slices"

	"github.com/varq-project/varq/predictor/workload"
)

// Claims returns Slurm's own reservations between two times as claims on the nodes of a partition
// that can be used, in order of time. A job can have no node of theirs while its time limit reaches
// into them.
//
// However many reservations have a node at once, or one after the other without a gap, one claim
// has it, for all of that time.
func (c *Cluster) Claims(partition string, after, before int64) []workload.Claim {
	type span struct{ start, end int64 }
	var spans [][]span // by node, in order of time, without touching one another
	nodes := c.Partitions[partition].Nodes
	var index map[string]int
	reservations := slices.SortedStableFunc(slices.Values(c.Reservations), func(a, b Reservation) int { return cmp.Compare(a.Start, b.Start) })
	for i := range reservations {
		v := &reservations[i]
		if v.Start >= before || v.End <= after || v.Start >= v.End {
			continue
		}
		if index == nil {
			index, spans = make(map[string]int, len(nodes)), make([][]span, len(nodes))
			for i, name := range nodes {
				if c.Nodes[name].Usable {
					index[name] = i
				}
			}
		}
		for _, name := range v.Nodes {
			n, ok := index[name]
			if !ok {
				continue
			}
			if last := len(spans[n]) - 1; last >= 0 && v.Start <= spans[n][last].end {
				spans[n][last].end = max(spans[n][last].end, v.End)
			} else {
				spans[n] = append(spans[n], span{v.Start, v.End})
			}
		}
	}
	claims := map[span]*workload.Claim{}
	for n, name := range nodes[:len(spans)] {
		for _, s := range spans[n] {
			claim := claims[s]
			if claim == nil {
				claim = &workload.Claim{Request: workload.Request{Partition: partition, Limit: s.end - s.start}, Start: s.start, From: s.start}
				claims[s] = claim
			}
			has := c.Nodes[name]
			claim.Names = append(claim.Names, name)
			claim.Nodes++
			claim.CPUs += int32(has.CPUs)
			claim.GPUs += int32(has.Gres["gpu"])
			claim.Memory += has.Memory
		}
	}
	spansOf := slices.SortedFunc(maps.Keys(claims), func(a, b span) int { return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.end, b.end)) })
	list := make([]workload.Claim, 0, len(spansOf))
	for _, s := range spansOf {
		list = append(list, *claims[s])
	}
	return list
}
