package twin

import (
	"cmp"
	"iter"
	"slices"

	"github.com/varq-project/varq/predictor/workload"
)

// Room bounds the probability that the work of c runs from the time c.From on, as of now, by the room
// for it beside the jobs that run and the claims of others. A job is not in its own way: neither as
// one that runs nor among the others.
//
// Where the bound is below least, Room may tell of more room than there is, but not of least or more.
//
// There is room if CPUs, GPUs and memory suffice: of the pool beside all jobs on it, and of the
// partition beside what these have of its nodes; and if single nodes suffice for what needs one.
// There must be room at that time, and also whenever the job of a claim is to get its nodes while
// c's job has some, so that promises made before can be kept. A claim that waits keeps its nodes for
// its whole limit. How long work runs is forecast only once it has begun, from how long it has run:
// a user's short jobs must not let the promises of others seem short. Other jobs that wait or will
// come do not count: forecasts tell how long c's job waits for those, but for plain claims. These have
// room when they become eligible, so that a job that gets its nodes later has to do with what they leave.
// There is no bound for a pool that is not configured, because its size is not known.
//
// For n running jobs and claims, and as many nodes, Room takes O(n log n), and O(n) forecasts of run
// times for each of at most mostSqueezes times at which there may be too little room. Where plain claims
// are in the way, it takes as much again for each of at most mostLate times.
func (t *Twin) Room(c *workload.Claim, now int64, others []workload.Claim, least float64) workload.Room {
	in := t.partitions.named(c.Partition)
	if in.configured == nil || t.partitions.tooLarge(&c.Request) {
		return workload.Room{Prob: 1}
	}
	all := t.occupants(in, c.Job, now, others)
	demands := all.demands(in, c)
	o := all.first(all.plain)
	room := workload.Room{Prob: o.leave(demands, c.From)}
	if room.Prob > 0 && room.Prob >= least {
		for _, time := range o.squeezes(demands, now, c.From+c.Limit) {
			if prob := o.leave(demands, time); time < c.From {
				room.Holding = append(room.Holding, workload.Hold{At: time, Prob: prob})
			} else {
				room.Prob = min(room.Prob, prob)
			}
		}
		room.Late = all.late(demands, c, room.Prob)
	}
	if room.Within(c.From, c.From) < 1 {
		room.Next = all.openings(demands, c.From, c.Limit)
	}
	return room
}

// occupant is a job that has processors of a pool, or will have them.
type occupant struct {
	*job
	size   workload.Size // that it has
	pieces workload.Pieces
	start  int64 // when it gets them, Unix seconds
	from   int64 // when its work begins, or began
	until  int64 // when it reaches its limit
	limit  int64 // from from to until, before reservations cut it into parts
	waits  bool  // it has not started
	alone  bool  // no other is on its nodes
	// share is the share of its nodes that the partition has. on are those of them that are known,
	// as places in the partition's nodes, and each is what it has of each.
	share float64
	on    []int
	each  workload.Size
}

// has reports whether the occupant may have its processors at a time.
func (c *occupant) has(at int64) bool { return c.start <= at && at < c.until }

// occupants are those of a pool. The plain claims come last, in the order in which they become eligible.
type occupants struct {
	twin  *Twin
	now   int64
	list  []occupant
	plain int // where in list they begin
}

// first returns the first n of the occupants.
func (o *occupants) first(n int) *occupants {
	return &occupants{twin: o.twin, now: o.now, list: o.list[:n], plain: min(n, o.plain)}
}

// occupants returns those of the pool of a partition.
func (t *Twin) occupants(in *partition, id, now int64, claims []workload.Claim) occupants {
	o, p, kept := occupants{twin: t, now: now}, in.configured, reservedBy(claims)
	var plain []occupant
	add := func(c occupant, names []string) {
		if c.until <= now && c.start <= now { // it has outlived its limit
			c.from, c.until = now+overrun, now+overrun
		}
		c.limit = c.until - c.from
		for _, part := range kept.beside(c, names) {
			in.put(&part.occupant, part.nodes)
			o.list = append(o.list, part.occupant)
		}
	}
	claimed := make(map[int64]bool, len(claims))
	for i := range claims {
		c := &claims[i]
		if c.Job != 0 && c.Job == id || t.partitions.named(c.Partition).configured != p {
			continue
		}
		k := t.read(&workload.Job{Request: c.Request, Submit: now})
		is := occupant{job: k, size: c.Size, pieces: c.Pieces, start: c.Start, from: c.From, until: c.From + c.Limit, waits: true}
		is.size.CPUs = k.takes
		if is.limit = c.Limit; c.Names != nil {
			is.alone, is.pieces = c.Alone(), workload.Pieces{} // it is on nodes that are known, and on no others
			in.put(&is, c.Names)
			o.list = append(o.list, is)
			continue
		}
		if j := t.queue.Job(c.Job); j != nil && j.Start != 0 {
			is.size.CPUs, is.start, is.waits = max(k.takes, j.Given), min(c.Start, now), false
			claimed[c.Job] = true
		} else if c.Plain {
			in.put(&is, nil)
			plain = append(plain, is)
			continue
		}
		add(is, t.placed[c.Job])
	}
	for j := range t.queue.Running() {
		if k := t.job(j); k.in.configured == p && !claimed[j.ID] && j.ID != id {
			size := j.Size
			size.CPUs = k.takes
			add(occupant{job: k, size: size, start: k.Start, from: k.Start, until: k.Start + k.Limit, alone: k.in.ofNode > 0}, t.placed[j.ID])
		}
	}
	slices.SortStableFunc(plain, func(a, b occupant) int { return cmp.Compare(a.start, b.start) })
	o.plain, o.list = len(o.list), append(o.list, plain...)
	return o
}

// put says which of a partition's nodes an occupant has, given the names of its own if they are known. An
// other is taken to have any nodes of its own partition, all alike.
func (in *partition) put(c *occupant, names []string) {
	for _, name := range names {
		if i, ok := in.index[name]; ok {
			c.on = append(c.on, i)
		}
	}
	switch n := len(names); {
	case n > 0:
		c.share = float64(len(c.on)) / float64(n)
		c.each = workload.Size{CPUs: c.size.CPUs / int32(n), GPUs: c.size.GPUs / int32(n), Memory: c.size.Memory / int64(n)}
	case c.in == in || !in.partly():
		c.share = 1
	default:
		mine := 0
		for i := range c.in.nodes {
			if _, ok := in.index[c.in.nodes[i].Name]; ok {
				mine++
			}
		}
		c.share = float64(mine) / float64(max(1, len(c.in.nodes)))
	}
}

// changes yields the times at which some of the occupants begin to have processors, or no longer have
// them, ascending, and whether one begins then. The demands have counted all of them that have some from
// then on, and when the loop is over, also by a break, they count nobody any more.
func (o *occupants) changes(demands []demand, of func(*occupant) bool) iter.Seq2[int64, bool] {
	type change struct {
		at     int64
		by     *occupant
		begins bool
	}
	list := make([]change, 0, 2*len(o.list))
	for i := range o.list {
		if c := &o.list[i]; of(c) && c.start < c.until {
			list = append(list, change{c.start, c, true}, change{c.until, c, false})
		}
	}
	slices.SortFunc(list, func(a, b change) int { return cmp.Compare(a.at, b.at) })
	return func(yield func(at int64, begins bool) bool) {
		for i, more := 0, true; i < len(list); {
			at, begins := list[i].at, false
			for ; i < len(list) && list[i].at == at; i++ {
				begins = begins || list[i].begins
				for _, d := range demands {
					d.change(list[i].by, list[i].begins)
				}
			}
			more = more && yield(at, begins)
		}
	}
}

// mostSqueezes is at how many times, beside the one asked about, Room looks for room.
const mostSqueezes = 16

// squeezes returns the times between two others, ascending, at which an occupant gets processors
// and there may be too little room for the demands. Of more than mostSqueezes it returns those at
// which the most would be missing beside the claims that wait alone, and then those at which it would
// be beside all.
func (o *occupants) squeezes(demands []demand, after, before int64) []int64 {
	type squeeze struct{ at, sure, missing int64 }
	var found []squeeze
	for at, begins := range o.changes(demands, func(*occupant) bool { return true }) {
		if !begins || at <= after || at >= before {
			continue
		}
		s := squeeze{at: at}
		for _, d := range demands {
			sure, all := d.missing()
			s.sure, s.missing = max(s.sure, sure), max(s.missing, all)
		}
		if s.missing > 0 {
			found = append(found, s)
		}
	}
	slices.SortStableFunc(found, func(a, b squeeze) int {
		return cmp.Or(cmp.Compare(b.sure, a.sure), cmp.Compare(b.missing, a.missing))
	})
	times := make([]int64, 0, mostSqueezes)
	for _, s := range found[:min(mostSqueezes, len(found))] {
		times = append(times, s.at)
	}
	slices.Sort(times)
	return times
}

// leave returns an upper bound on the probability that the occupants leave room for the demands at
// a time: the least of the probabilities for each.
func (o *occupants) leave(demands []demand, at int64) float64 {
	prob := 1.
	for _, d := range demands {
		if prob = min(prob, d.leave(o, at)); prob == 0 {
			break
		}
	}
	return prob
}

// runs returns the probability that an occupant has its processors at a time between its start and
// its limit.
func (t *Twin) runs(c *occupant, now, at int64) float64 {
	if c.waits || c.from > now {
		return 1
	}
	ended := t.endedBy(c.job, now-c.from)
	return (1 - c.runtime.Within(at-c.from)) / (1 - ended)
}
