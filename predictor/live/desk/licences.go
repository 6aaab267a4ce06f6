package desk

import (
	"math"
	"slices"

	"github.com/varq-project/varq/predictor/cluster/limits"
	"github.com/varq-project/varq/predictor/workload"
)

// licensed returns a function for the room that a job like c has as to licences that can run out:
// beside the jobs that have some, claims, Slurm's own reservations, and the jobs that wait for some
// before it. It returns nil if the job needs none.
func (d *occupancy) licensed(cluster *limits.Cluster, c workload.Claim, now int64, claims []workload.Claim, promise bool) (room func(workload.Claim, float64) workload.Room) {
	if c.Licences == "" {
		return nil
	}
	claims = slices.Concat(claims, cluster.Reservations.Licensed(now, c.Reservation))
	for name := range c.Licences.All() {
		before, one := room, d.roomLicensed(cluster, c, name, now, claims, promise)
		room = one
		if before != nil {
			room = func(c workload.Claim, least float64) workload.Room { return before(c, least).And(one(c, least)) }
		}
	}
	return room
}

// roomLicensed is Outlook.Licences for a job like c. Jobs that wait for licences of the name do not
// pass one another; those that a limit keeps waiting do not count. A job that waits for nodes, too,
// counts as having its licences from when they are free.
func (d *occupancy) roomLicensed(cluster *limits.Cluster, c workload.Claim, name string, now int64, claims []workload.Claim, promise bool) func(workload.Claim, float64) workload.Room {
	of, job := cluster.Licenses[name], c.Job
	total := int32(min(max(0, of.Total-of.Kept), math.MaxInt32))
	l := line{
		has:   func(j *workload.Job) bool { return j.Licences.Of(name) > 0 && j.Precedes(c.QOS) },
		tasks: true, ends: promise,
		beside: func(others []workload.Claim) func(workload.Claim, float64) workload.Room {
			return d.Outlook.Licences(name, total, job, now, others)
		},
		starts: func(r workload.Request, from int64) int64 {
			if cluster.Partitions[r.Partition].Overcommits {
				return from
			}
			return likely(workload.Claim{Request: r, From: from}, d.Outlook.Room(r.Place(), 0, now, claims))
		},
	}
	return d.inLine(&l, cluster, c, now, claims)
}
