package trajectory

import (
	"github.com/varq-project/varq/predictor/cluster/limits"
	"github.com/varq-project/varq/predictor/workload"
)

// Crowd says who leaves the job of r how little room, "no" or "too little", if it has its nodes
// from a time on, in Unix seconds. Late is true if jobs that wait for their begin time may be among
// them. Slurm's own reservations are named, and until when they last: alone if they leave too few
// nodes by themselves.
func Crowd(c *limits.Cluster, r *Request, from int64, late bool, little string) string {
	others := "running jobs and other promises"
	if late {
		others = "running jobs, other promises, or jobs that wait for their begin time"
	}
	others += " leave " + little + " room"
	if licences := OrLicences(&r.Job); licences != "" {
		others += licences + ","
	}
	others += " at the deadline"
	if c == nil {
		return others
	}
	end := r.Deadline + r.Job.Limit
	for _, w := range c.Job(r.All(), r.Needs).Blocked(r.Pieces) {
		if w.Start < end && w.End > from {
			return w.Says + r.meets(&w, c.Zone)
		}
	}
	if reserved := c.ReservedBetween(r.Job.Partition, from, end); reserved != "" {
		return reserved + ", " + others
	}
	return others
}

// Blocking says which of Slurm's reservations keep the job of r from starting at a time, in Unix
// seconds, with a time limit, in seconds. It is "" if none do. The job's own reservation does so
// while it does not have its nodes.
func Blocking(c *limits.Cluster, r *Request, start, limit int64) string {
	for _, w := range c.Job(r.All(), r.Needs).Blocked(r.Pieces) {
		if w.Stops(start, limit) {
			return w.Says + r.meets(&w, c.Zone)
		}
	}
	return ""
}

// OrLicences ends a statement about too little room for a job: if it needs licences that can run
// out, these may be too few instead. It is "" for any other job.
func OrLicences(r *workload.Request) string {
	if r.Licences == "" {
		return ""
	}
	return ", or, beside the jobs that wait for them, too few of the licences " + string(r.Licences)
}
