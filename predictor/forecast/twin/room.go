package twin

import (
	"slices"

	"github.com/varq-project/varq/predictor/stats"
	"github.com/varq-project/varq/predictor/workload"
)

// Room returns an upper bound on the probability that the work of a job with request r runs from
// a time on, Unix seconds: the probability that there is room for it, processors and GPUs,
// beside the jobs that run and those of claims. r.Limit is that of the work. The job named by id, which is 0 for none, is
// not in its own way.
//
// There must be room at that time, and also whenever the work of a claim begins while r's work
// runs, so that promises made before can be kept. Room looks at mostBegins such times. Other jobs
// that wait or will come do not count: forecasts tell how long r waits for those. The
// bound is 1 for a pool that is not configured, because its size is not known.
//
// For n running jobs and claims, Room takes O(n log n), and some predictions of run times if there
// may be too little room.
func (t *Twin) Room(r *workload.Request, id, now, at int64, claims []workload.Claim) float64 {
	pool := t.partitions.named(r.Partition).configured
	if pool == nil || t.partitions.tooLarge(r) {
		return 1
	}
	others := t.occupants(pool, id, now, claims)
	work := occupant{job: t.read(&workload.Job{Request: *r, Submit: now}), from: at, until: at + r.Limit}
	prob := others.leave(r, pool, at)
	for _, begin := range others.begins(at, work.until) {
		if left := others.leave(r, pool, begin); left < 1 {
			prob = min(prob, 1-t.runs(&work, now, begin)*(1-left))
		}
	}
	return prob
}

// mostBegins is at how many times, after the one asked about, Room looks for room.
const mostBegins = 16

// begins returns the first times between two others at which the work of an occupant begins.
func (o *occupants) begins(after, before int64) []int64 {
	var begins []int64
	for i := range o.list {
		if from := o.list[i].from; from > after && from < before {
			begins = append(begins, from)
		}
	}
	slices.Sort(begins)
	begins = slices.Compact(begins)
	return begins[:min(mostBegins, len(begins))]
}

// occupant is a job that has processors of a pool, or will have them.
type occupant struct {
	*job
	takes int32 // processors
	from  int64 // when its work begins, or began, Unix seconds
	until int64 // when it reaches its limit
	holds bool  // it has its processors before from, too
}

// occupants are those of a pool.
type occupants struct {
	twin *Twin
	now  int64
	list []occupant
}

// occupants returns the occupants of a pool.
func (t *Twin) occupants(p *pool, id, now int64, claims []workload.Claim) occupants {
	o := occupants{twin: t, now: now}
	claimed := make(map[int64]bool, len(claims))
	for i := range claims {
		c := &claims[i]
		if c.Job != 0 && c.Job == id || t.partitions.named(c.Partition).configured != p {
			continue
		}
		k, j := t.read(&workload.Job{Request: c.Request, Submit: now}), t.queue.Job(c.Job)
		runs, takes := j != nil && j.Start != 0, k.takes
		if runs {
			takes = max(takes, j.Given)
			claimed[c.Job] = true
		}
		o.list = append(o.list, occupant{k, takes, c.From, c.From + c.Limit, runs})
	}
	for j := range t.queue.Running() {
		if k := t.job(j); k.in.configured == p && !claimed[j.ID] && j.ID != id {
			o.list = append(o.list, occupant{k, k.takes, k.Start, k.Start + k.Limit, true})
		}
	}
	return o
}

// alike are jobs of equal requests of one user. They are taken to end together: who submits
// many such jobs does with each what she does with the others. All others are taken to end
// independently. On real logs the room that is so forecast comes about as often as it should.
type alike struct {
	user, takes int32
	limit       int64
}

// leave returns an upper bound on the probability that the occupants of a pool leave room for r at
// a time: the least of the probabilities for each resource.
func (o *occupants) leave(r *workload.Request, p *pool, at int64) float64 {
	prob := o.leaveOf(p.size.CPUs-o.twin.partitions.named(r.Partition).takes(r), at, func(c *occupant) int32 { return c.takes })
	if r.GPUs > 0 && p.size.GPUs > 0 {
		prob = min(prob, o.leaveOf(p.size.GPUs-r.GPUs, at, func(c *occupant) int32 { return c.gpus }))
	}
	return prob
}

// leaveOf returns the probability that at most so much of a resource is taken at a time.
func (o *occupants) leaveOf(bound int32, at int64, taken func(*occupant) int32) float64 {
	most := int64(0)
	for i := range o.list {
		if c := &o.list[i]; c.may(o.now, at) {
			most += int64(taken(c))
		}
	}
	if most <= int64(bound) {
		return 1
	}
	groups, of := make([][]stats.Part, 0, len(o.list)), make(map[alike]int, len(o.list))
	for i := range o.list {
		c := &o.list[i]
		if !c.may(o.now, at) {
			continue
		}
		key := alike{c.User, c.takes, c.until - c.from}
		g, ok := of[key]
		if !ok {
			g = len(groups)
			of[key], groups = g, append(groups, nil)
		}
		groups[g] = append(groups[g], stats.Part{Size: int64(taken(c)), Prob: o.twin.runs(c, o.now, at)})
	}
	return stats.SumAtMost(groups, int64(bound))
}

// may reports whether an occupant may have its processors at a time.
func (c *occupant) may(now, at int64) bool {
	until := c.until
	if until <= now { // it has outlived its limit
		until = now + overrun
	}
	return at < until && (c.holds || at >= c.from)
}

// runs returns the probability that an occupant that may have its processors at a time has them.
func (t *Twin) runs(c *occupant, now, at int64) float64 {
	if at <= c.from || c.until <= now {
		return 1
	}
	ended := t.endedBy(c.job, max(0, now-c.from))
	return (1 - c.runtime.Within(at-c.from)) / (1 - ended)
}
