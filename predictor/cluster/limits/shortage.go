package limits

import (
	"fmt"

	"github.com/varq-project/varq/predictor/workload"
)

// Shortage says that too few nodes can start jobs now (Unix seconds) for the job, and why the
// others cannot: part of a sentence. It is "" if there are enough, or if not all nodes of the
// partition are known.
func (j *Job) Shortage(now int64) string { return j.ShortageBy(now, now) }

// ShortageBy is Shortage for a job that is to start by a deadline: the nodes of reservations that
// are over by then do not count as such that cannot start jobs.
func (j *Job) ShortageBy(now, deadline int64) string {
	return j.shortage(j.others().holding(&j.partition, now, deadline))
}

// Missing is Shortage for nodes of which nobody knows when they come back: those that are down or
// drained.
func (j *Job) Missing() string { return j.shortage(nil) }

// shortage is Shortage while these reservations have their nodes.
func (j *Job) shortage(by []*Reservation) string {
	s, known := j.cluster.standing(&j.partition, by)
	if !known || s.suffices(j) || len(s.usable) == len(s.partition.Nodes) {
		return ""
	}
	consequence := "too few for the job, and when the others come back cannot be forecast"
	if s.reserved > 0 && s.until() != "" {
		consequence = "too few for the job until then"
		if len(s.drained)+len(s.down) > 0 {
			consequence = "too few for the job, and when those that are drained or down come back cannot be forecast"
		}
	}
	return fmt.Sprintf("only %d of the %s of %s%s can start jobs now (%s), %s",
		len(s.usable), count(len(s.partition.Nodes), "node"), j.cluster.Where(&j.Request), forSuch(&j.Request), s.others(), consequence)
}

// forSuch ends a number of nodes in a sentence about a job, if these are not all of its partition.
func forSuch(r *workload.Request) string {
	if r.NodeSet == "" {
		return ""
	}
	return " for such a job"
}
