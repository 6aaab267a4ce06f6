package limits

import (
	"fmt"

	"github.com/varq-project/varq/predictor/slurmtime"
)

// MaxLimit returns the longest time limit, in seconds, that a job of this size may have, and
// the rule that sets it. It returns None if nothing limits it. The job's own limit does not matter.
//
// If several places set a limit, the first one decides, as in Slurm. The order is: the partition's
// QOS, the job's QOS (first if it has the flag OverPartQOS), the user's association, and its parent
// accounts. The partition's MaxTime applies as well, unless a QOS has the flag PartitionTimeLimit,
// and so does Ahead of a reservation that floats, if too few nodes are outside. If no QOS sets a
// limit on a group (Grp...), that of every association of the chain applies, since each counts its
// own jobs.
func (j *Job) MaxLimit() (seconds int64, by Rule) {
	best := longest{seconds: None}
	if p := &j.partition; p.MaxTime > 0 && !j.overrides(func(q *QOS) bool { return q.PartitionTimeLimit }) {
		best.bound(p.MaxTime, "partition "+j.Partition, "MaxTime", "allows %s")
	}
	if v := j.others().floating(&j.partition, j.Nodes); v != nil {
		best.bound(v.Ahead, v.title(), "TIME_FLOAT", "is always %s ahead")
	}
	limits := j.chain()
	if h, ok := limits.first(func(h holder) bool { return h.MaxWall > 0 }); ok {
		best.bound(h.MaxWall, h.name, "MaxWall", "allows %s")
	}
	for _, tres := range limits.names(func(l *JobLimits) TRES { return l.MaxTRESMins }) {
		if h, ok := limits.first(func(h holder) bool { return has(h.MaxTRESMins, tres) }); ok {
			best.boundMins(h.MaxTRESMins[tres], j.amount(tres), h.name, "MaxTRESMins="+tres, "allows %s to a job of this size")
		}
	}
	for _, tres := range limits.names(func(l *JobLimits) TRES { return l.GrpTRESMins }) {
		for _, h := range limits.grouped(func(h holder) bool { return has(h.GrpTRESMins, tres) }) {
			left := max(0, h.GrpTRESMins[tres]-h.UsedTRESMins[tres])
			best.boundMins(left, j.amount(tres), h.name, "GrpTRESMins="+tres, "has %s left for a job of this size")
		}
	}
	for _, tres := range limits.names(func(l *JobLimits) TRES { return l.GrpTRESRunMins }) {
		for _, h := range limits.grouped(func(h holder) bool { return has(h.GrpTRESRunMins, tres) }) {
			best.boundMins(h.GrpTRESRunMins[tres], j.amount(tres), h.name, "GrpTRESRunMins="+tres, "allows %s to a job of this size")
		}
	}
	return best.seconds, best.by
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

// has reports whether the limit on a TRES is set.
func has(t TRES, name string) bool {
	n, ok := t[name]
	return ok && n != None
}
