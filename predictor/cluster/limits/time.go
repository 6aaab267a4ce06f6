package limits

import (
	"fmt"
	"maps"
	"slices"

	"github.com/varq-project/varq/predictor/slurmtime"
	"github.com/varq-project/varq/predictor/workload"
)

// MaxLimit returns the longest time limit, in seconds, that a job of the request's size may
// have, and the rule that sets it. It returns None if nothing limits it. The request's own limit
// does not matter.
//
// If several places set a limit, the first one decides, as in Slurm. The order is: the partition's
// QOS, the job's QOS (first if it has the flag OverPartQOS), the user's association, and its parent
// accounts. The partition's MaxTime applies as well, unless a QOS has the flag PartitionTimeLimit,
// and so does Ahead of a reservation that floats, if too few nodes are outside. If no QOS sets a
// limit on a group (Grp...), that of every association of the chain applies, since each counts its
// own jobs.
func (c *Cluster) MaxLimit(r workload.Request) (seconds int64, by Rule) {
	best := longest{seconds: None}
	if p := c.Partitions[r.Partition]; p.MaxTime > 0 && !c.overrides(&r, func(q *QOS) bool { return q.PartitionTimeLimit }) {
		best.bound(p.MaxTime, "partition "+r.Partition, "MaxTime", "allows %s")
	}
	if v := c.floating(r.Partition, r.Nodes); v != nil {
		best.bound(v.Ahead, "reservation "+v.Name, "TIME_FLOAT", "is always %s ahead")
	}
	qos, chain := c.qos(&r), c.associations(&r)
	all := append(slices.Clone(qos), chain...)
	if h, ok := first(all, func(h holder) bool { return h.MaxWall > 0 }); ok {
		best.bound(h.MaxWall, h.name, "MaxWall", "allows %s")
	}
	for _, tres := range names(all, func(l *JobLimits) TRES { return l.MaxTRESMins }) {
		if h, ok := first(all, func(h holder) bool { return has(h.MaxTRESMins, tres) }); ok {
			best.boundMins(h.MaxTRESMins[tres], c.size(r, tres), h.name, "MaxTRESMins="+tres, "allows %s to a job of this size")
		}
	}
	for _, tres := range names(all, func(l *JobLimits) TRES { return l.GrpTRESMins }) {
		for _, h := range grouped(qos, chain, func(h holder) bool { return has(h.GrpTRESMins, tres) }) {
			left := max(0, h.GrpTRESMins[tres]-h.UsedTRESMins[tres])
			best.boundMins(left, c.size(r, tres), h.name, "GrpTRESMins="+tres, "has %s left for a job of this size")
		}
	}
	for _, tres := range names(all, func(l *JobLimits) TRES { return l.GrpTRESRunMins }) {
		for _, h := range grouped(qos, chain, func(h holder) bool { return has(h.GrpTRESRunMins, tres) }) {
			best.boundMins(h.GrpTRESRunMins[tres], c.size(r, tres), h.name, "GrpTRESRunMins="+tres, "allows %s to a job of this size")
		}
	}
	return best.seconds, best.by
}

// overrides reports whether a QOS of the request has the flag.
func (c *Cluster) overrides(r *workload.Request, flag func(*QOS) bool) bool {
	for _, name := range []string{r.QOS, c.Partitions[r.Partition].QOS} {
		if q := c.QOS[name]; flag(&q) {
			return true
		}
	}
	return false
}

// size is amount, extended to the TRES "billing" and to the memory that a job has by default.
func (c *Cluster) size(r workload.Request, tres string) int64 {
	switch {
	case tres == "billing":
		return int64(c.BillingRate(r))
	case tres == "mem" && r.Memory == 0:
		p := c.Partitions[r.Partition]
		return p.byDefault(int64(r.Nodes), int64(r.CPUs))
	}
	return amount(r.Size, tres)
}

// longest is the longest time limit that the rules seen so far allow.
type longest struct {
	seconds int64
	by      Rule
}

// bound applies a rule: the setting of an owner. In words, %s is the longest time limit.
func (l *longest) bound(seconds int64, owner, setting, words string) {
	if l.seconds != None && l.seconds <= seconds {
		return
	}
	l.seconds = seconds
	l.by = Rule{
		Name: owner + " " + setting,
		Says: fmt.Sprintf("%s %s (%s)", owner, fmt.Sprintf(words, slurmtime.FormatDuration(seconds)), setting),
	}
}

// boundMins applies a rule on size x minutes.
func (l *longest) boundMins(mins, size int64, owner, setting, words string) {
	if size > 0 {
		l.bound(mins/size*60, owner, setting, words)
	}
}

// first returns the first holder for which set is true.
func first(holders []holder, set func(holder) bool) (holder, bool) {
	i := slices.IndexFunc(holders, set)
	if i < 0 {
		return holder{}, false
	}
	return holders[i], true
}

// grouped returns the holders whose limit on a group applies: the first QOS that sets it, or else
// every association that sets it.
func grouped(qos, chain []holder, set func(holder) bool) []holder {
	if h, ok := first(qos, set); ok {
		return []holder{h}
	}
	return slices.DeleteFunc(slices.Clone(chain), func(h holder) bool { return !set(h) })
}

// has reports whether the limit on a TRES is set.
func has(t TRES, name string) bool {
	n, ok := t[name]
	return ok && n != None
}

// names returns the TRES that any holder limits, sorted.
func names(holders []holder, of func(*JobLimits) TRES) []string {
	seen := map[string]bool{}
	for _, h := range holders {
		for name := range of(h.JobLimits) {
			seen[name] = true
		}
	}
	return slices.Sorted(maps.Keys(seen))
}
