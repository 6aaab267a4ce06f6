package twin

import (
	"math"

	"github.com/varq-project/varq/predictor/workload"
)

// Licensees returns the jobs that have licences of a name, of total in all, or will have them, with
// claims among them, as Occupants: their pool has a CPU for each licence. A claim of a job that has
// more in the queue has as many, but for arrays. The job of an id, if it is not 0, is none of them.
// For n running jobs and m claims it takes O(n + m log m).
func (t *Twin) Licensees(name string, total int32, id, now int64, claims []workload.Claim) *Occupants {
	pool := workload.Size{CPUs: total}
	in := &partition{ground: ground{part: pool}}
	g := gathering{Occupants: &Occupants{now: now, pool: &pool, ground: in.ground}, in: in, licences: true}
	var licensed []workload.Claim
	for i := range claims {
		c := claims[i]
		if j := t.queue.Job(c.Job); j != nil && j.Licences.Of(name) > c.Licences.Of(name) {
			c.Licences = j.Licences // which somebody has changed
		}
		if c, ok := licensee(&c, name); ok {
			licensed = append(licensed, c)
		}
	}
	plain, claimed := g.claim(t, id, licensed, func(*workload.Claim) *partition { return in })
	for j := range t.queue.Running() {
		n := j.Licences.Of(name)
		if n == 0 || claimed[j.ID] || j.ID == id {
			continue
		}
		k := t.job(j)
		c := occupant{
			user: k.User, size: workload.Size{CPUs: licences(n)}, start: k.Start, from: k.Start, until: k.Start + k.Limit, limit: k.Limit,
			runtime: g.runtime(t, k, k.Start),
		}
		g.add(c, in, nil)
	}
	g.finish(plain, new(Occupants))
	return g.Occupants
}

// RoomLicensed bounds the probability that the licences of a name that the job of c needs are free
// for it while its work runs, as Room does for nodes. The occupants are the licensees of the name.
func (o *Occupants) RoomLicensed(c *workload.Claim, name string, least float64) workload.Room {
	of, ok := licensee(c, name)
	switch {
	case !ok || o.pool == nil:
		return workload.Room{Prob: 1}
	case of.CPUs > o.pool.CPUs:
		return workload.Room{}
	}
	return o.Room(&of, least)
}

// licensee returns what a claim has of the licences of a name, as Licensees has it. It reports
// false if that is nothing.
func licensee(c *workload.Claim, name string) (workload.Claim, bool) {
	n := c.Licences.Of(name)
	if n == 0 {
		return workload.Claim{}, false
	}
	of := *c
	of.Size, of.Pieces, of.Names = workload.Size{CPUs: licences(n)}, workload.Pieces{}, nil
	return of, true
}

// licences returns a number of licences as one of CPUs.
func licences(n int64) int32 { return int32(min(n, math.MaxInt32)) }
