package limits

import (
	"cmp"
	"maps"
	"slices"

	"github.com/varq-project/varq/predictor/workload"
)

// Claims returns Slurm's own reservations between two times as claims on the nodes of a partition
// that can be used, in order of time. A job can have no node of theirs while its time limit reaches into
// them. Of those that float, a job of some nodes can only have nodes if MaxLimit bounds its time limit by
// them.
//
// However many reservations have a node at once, or one after the other without a gap, one claim
// has it, for all of that time.
func (c *Cluster) Claims(partition string, job int32, after, before int64) []workload.Claim {
	type reserved struct {
		Span
		nodes []int
	}
	nodes, bound := c.Partitions[partition].Nodes, c.floating(partition, job)
	var all []reserved
	for i, usable := 0, map[string]int(nil); i < len(c.Reservations); i++ {
		v := &c.Reservations[i]
		var of []int
		times := v.times()
		if v.Floats && (bound == nil || v.Ahead < bound.Ahead) {
			times = slices.Values([]Span{{after, before}})
		}
		for s := range times {
			if s.Start >= before || s.End <= after {
				continue
			}
			if usable == nil {
				usable = c.index(partition, func(name string) bool { return c.Nodes[name].Usable })
			}
			if of == nil {
				of = v.places(usable)
			}
			all = append(all, reserved{s, of})
		}
	}
	if len(all) == 0 {
		return nil
	}
	slices.SortStableFunc(all, func(a, b reserved) int { return cmp.Compare(a.Start, b.Start) })
	spans := make([][]Span, len(nodes)) // by node, in order of time, without touching one another
	for _, r := range all {
		for _, n := range r.nodes {
			if last := len(spans[n]) - 1; last >= 0 && r.Start <= spans[n][last].End {
				spans[n][last].End = max(spans[n][last].End, r.End)
			} else {
				spans[n] = append(spans[n], r.Span)
			}
		}
	}
	claims := map[Span]*workload.Claim{}
	for n, name := range nodes {
		for _, s := range spans[n] {
			claim := claims[s]
			if claim == nil {
				claim = &workload.Claim{Request: workload.Request{Partition: partition, Limit: s.End - s.Start}, Start: s.Start, From: s.Start}
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
	spansOf := slices.SortedFunc(maps.Keys(claims), func(a, b Span) int { return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.End, b.End)) })
	var list []workload.Claim
	for _, s := range spansOf {
		list = append(list, *claims[s])
	}
	return list
}
