package desk

import (
	"math"
	"slices"

	"github.com/varq-project/varq/predictor/cluster/limits"
	"github.com/varq-project/varq/predictor/workload"
)

// licensed returns a function for the room that a job like c has as to licences that can run out:
// beside the jobs that have some, claims, Slurm's own reservations, and the jobs that wait for some
// before it. A job that needs none has room.
func (d *occupancy) licensed(cluster *limits.Cluster, c workload.Claim, now int64, claims []workload.Claim, promise bool) func(workload.Claim, float64) workload.Room {
	if c.Licences == "" {
		return func(workload.Claim, float64) workload.Room { return workload.Room{Prob: 1} }
	}
	var rooms []func(workload.Claim, float64) workload.Room
	claims = slices.Concat(claims, cluster.Reservations.Licensed(now, c.Reservation))
	for name := range c.Licences.All() {
		rooms = append(rooms, d.roomLicensed(cluster, c, name, now, claims, promise))
	}
	return func(c workload.Claim, least float64) workload.Room {
		all := workload.Room{Prob: 1}
		for _, room := range rooms {
			all = all.And(room(c, least))
		}
		return all
	}
}

// roomLicensed is Outlook.Licences for a job like c. Jobs that wait for licences of the name do not
// pass one another; those that a limit keeps waiting, or another reservation, do not count. A job
// that waits for nodes, too, counts as having its licences from when they are free. Its nodes are
// looked for beside the claims and not beside the other jobs ahead.
func (d *occupancy) roomLicensed(cluster *limits.Cluster, c workload.Claim, name string, now int64, claims []workload.Claim, promise bool) func(workload.Claim, float64) workload.Room {
	of, job := cluster.Licenses[name], c.Job
	total := int32(min(max(0, of.Total-of.Kept), math.MaxInt32))
	l := line{
		has: func(j *workload.Job) bool {
			if j.Licences.Of(name) == 0 {
				return false
			}
			inside := j.Reservation != "" && (j.Reservation == c.Reservation || !cluster.Reservations.Encloses(j.Reservation))
			return inside || j.Precedes(c.QOS)
		},
		tasks: true, ends: promise,
		beside: func(others []workload.Claim) func(workload.Claim, float64) workload.Room {
			return d.Outlook.Licences(name, total, job, now, others)
		},
		starts: func(first workload.Claim) int64 {
			if cluster.Partitions[first.Partition].Overcommits {
				return first.From
			}
			const day = 24 * 3600 // by then it starts, or nobody knows
			slurms := cluster.Job(first.Request, nil).Claims(first.Pieces, now, first.From+2*first.Limit+day)
			return likely(first, d.Outlook.Room(first.Place(), 0, now, slices.Concat(claims, slurms)))
		},
	}
	return d.inLine(&l, cluster, c, now, claims)
}
