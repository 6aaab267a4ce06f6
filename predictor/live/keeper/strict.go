package keeper

import (
	"slices"

	"github.com/varq-project/varq/predictor/cluster/limits"
	"github.com/varq-project/varq/predictor/workload"
)

// mostAhead is of how many jobs that wait the keeper takes account where none may be passed: of those that come first. It bounds
// what a plan costs.
const mostAhead = 16

// ahead returns what the jobs claim that wait in a partition where none may be passed, in their order, up to one if that waits, too: each from
// when it is as likely to have room as not, beside others and those before it.
func (k *Keeper) ahead(c *limits.Cluster, partition string, job, now int64, others []workload.Claim) []workload.Claim {
	var waiting []workload.Request
	for j := range k.Outlook.Jobs {
		if j.ID == job || len(waiting) == mostAhead {
			break
		}
		if j.Start == 0 && j.Partition == partition && !j.AtLimit && !j.QOSFull {
			waiting = append(waiting, j.Request)
		}
	}
	takes := c.Takes()
	var claims []workload.Claim
	start := now
	for _, r := range waiting {
		r.CPUs, r.Memory = takes.CPUs(r), takes.Memory(r)
		start = k.likely(workload.Claim{Request: r, From: start}, now, slices.Concat(others, claims))
		claims = append(claims, workload.Claim{Request: r, Start: start, From: start})
	}
	return claims
}

// likely returns the first time from c.From on, of those that the room itself names, at which c is as likely to have room as not, or the last of
// them.
func (k *Keeper) likely(c workload.Claim, now int64, others []workload.Claim) int64 {
	const half = .5
	for {
		room := k.Outlook.Room(c, now, others, half)
		next := slices.IndexFunc(room.Next, func(at int64) bool { return at > c.From })
		if room.Prob >= half || next < 0 {
			return c.From
		}
		c.From = room.Next[next]
	}
}

// behind bounds the room for work that begins at a time by that for those of the jobs ahead which are likely to start later: they start first.
func (k *Keeper) behind(ahead []workload.Claim, room *workload.Room, from, now int64, others []workload.Claim) {
	for i, c := range ahead {
		if c.From <= from {
			continue
		}
		room.Next = append(room.Next, c.From)
		c.Start, c.From = 0, from
		room.Prob = min(room.Prob, k.Outlook.Room(c, now, slices.Concat(others, ahead[:i]), 0).Prob)
	}
}
