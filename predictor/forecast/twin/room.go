package twin

import "github.com/varq-project/varq/predictor/workload"

// Room bounds the probability that the work of c runs from the time c.From on, by the room for it
// beside the occupants. The partition of c is theirs.
//
// Where the bound is below least, Room may tell of more room than there is, but not of least or
// more.
//
// There is room if CPUs, GPUs and memory suffice: of the pool beside all jobs on it, and of the
// partition beside what these have of its nodes; and if single nodes suffice for what needs one.
// There must be room at that time, and also whenever the job of a claim is to get its nodes while
// c's job has some, so that promises made before can be kept. A claim that waits keeps its nodes
// for its whole limit. How long work runs is forecast only once it has begun, from how long it has
// run: a user's short jobs must not let the promises of others seem short. Other jobs that wait or
// will come do not count: forecasts tell how long c's job waits for those, but for plain claims.
// These have room when they become eligible, so that a job that gets its nodes later has to do with
// what they leave. There is no bound for a pool that is not configured, because its size is not
// known.
//
// The first question about a size takes O(n) for n occupants and nodes. Later ones take O(log n)
// and the number of the changes while c's job has nodes, if there is room at all times even beside
// jobs that run until their limits. For each of at most 2 mostSqueezes times at which it depends on
// how long they run, Room takes O(n) more. Where plain claims may be in the way, it takes as much
// again, and O(n), for each of at most mostLate times.
func (o *Occupants) Room(c *workload.Claim, least float64) workload.Room {
	if o.pool == nil || o.tooLarge(&c.Request, o.pool) {
		return workload.Room{Prob: 1}
	}
	n := o.need(c)
	room := workload.Room{Prob: n.firm.room(c.From)}
	if room.Prob > 0 && room.Prob >= least {
		for _, time := range n.firm.squeezes(o.now, c.From) {
			room.Holding = append(room.Holding, workload.Hold{At: time, Prob: n.firm.room(time)})
		}
		room.Prob = min(room.Prob, n.firm.squeezed(c))
		room.Late = n.late(c, room.Prob)
	}
	if room.Within(c.From, c.From) < 1 {
		room.Next = n.openings(c.From, c.Limit)
	}
	return room
}
