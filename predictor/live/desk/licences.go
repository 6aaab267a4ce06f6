package desk

import (
	"math"

	"github.com/varq-project/varq/predictor/cluster/limits"
	"github.com/varq-project/varq/predictor/workload"
)

// licensed returns the function for the room of a job like c which needs the room that nodes tells
// of, and licences that can run out beside the jobs that have some, claims, and the jobs that wait
// for some before it.
func (d *occupancy) licensed(cluster *limits.Cluster, c workload.Claim, now int64, claims []workload.Claim, nodes func(workload.Claim, float64) workload.Room) func(workload.Claim, float64) workload.Room {
	for name := range c.Licences.All() {
		before, licences := nodes, d.roomLicensed(cluster, c, name, now, claims)
		nodes = func(c workload.Claim, least float64) workload.Room { return before(c, least).And(licences(c, least)) }
	}
	return nodes
}

// roomLicensed is Outlook.Licences for a job like c. Jobs that wait for licences of the name do not
// pass one another. Jobs that are at a limit, or wait for a reservation, are not waited for.
func (d *occupancy) roomLicensed(cluster *limits.Cluster, c workload.Claim, name string, now int64, claims []workload.Claim) func(workload.Claim, float64) workload.Room {
	of, job := cluster.Licenses[name], c.Job
	total := int32(min(max(0, of.Total-of.Kept), math.MaxInt32))
	l := line{
		has:   func(j *workload.Job) bool { return !j.AtLimit && j.Licences.Of(name) > 0 },
		tasks: true, ends: true,
		beside: func(others []workload.Claim) func(workload.Claim, float64) workload.Room {
			return d.Outlook.Licences(name, total, job, now, others)
		},
	}
	return d.inLine(&l, cluster, c, now, claims)
}
