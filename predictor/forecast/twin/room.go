package twin

import (
	"cmp"
	"slices"

	"github.com/varq-project/varq/predictor/stats"
	"github.com/varq-project/varq/predictor/workload"
)

// Room bounds the probability that the work of c runs from the time c.From on, as of now, by the room
// for it beside the jobs that run and the claims of others. A job is not in its own way: neither as
// one that runs nor among the others.
//
// There is room if CPUs, GPUs and memory suffice: of the pool beside all jobs on it, and of the
// partition beside what these have of its nodes. There must be room at that time, and also whenever
// the job of a claim is to get its nodes while c's job has some, so that promises made before can
// be kept. A claim that waits keeps its nodes for its whole limit. How long work runs is forecast
// only once it has begun, from how long it has run: a user's short jobs must not let the promises
// of others seem short. Other jobs that wait or will come do not count: forecasts tell how long c's
// job waits for those. Nor does it count which nodes have how much. There is no bound for a pool that is
// not configured, because its size is not known.
//
// For n running jobs and claims, Room takes O(n log n), and O(n) forecasts of run times for each of
// at most mostSqueezes times at which there may be too little room.
func (t *Twin) Room(c *workload.Claim, now int64, others []workload.Claim) workload.Room {
	in := t.partitions.named(c.Partition)
	if in.configured == nil || t.partitions.tooLarge(&c.Request) {
		return workload.Room{Prob: 1}
	}
	o := t.occupants(in, c.Job, now, others)
	demands := in.demands(&c.Request)
	room := workload.Room{Prob: o.leave(demands, c.From)}
	if room.Prob == 0 {
		return room
	}
	for _, time := range o.squeezes(demands, now, c.From+c.Limit) {
		if prob := o.leave(demands, time); time < c.From {
			room.Holding = append(room.Holding, workload.Hold{At: time, Prob: prob})
		} else {
			room.Prob = min(room.Prob, prob)
		}
	}
	return room
}

// demand is what a job needs of a resource.
type demand struct {
	left int64                 // that others may have
	of   func(*occupant) int64 // that an occupant has
}

// partly reports whether the partition has a part of its configured pool only.
func (in *partition) partly() bool { return in.part != in.configured.size }

// demands returns those of a request for a partition of a configured pool.
func (in *partition) demands(r *workload.Request) []demand {
	var list []demand
	add := func(size *workload.Size, share func(*occupant) float64) {
		resource := func(needed, total int64, of func(*occupant) int64) {
			if needed > 0 && total > 0 {
				list = append(list, demand{total - needed, func(c *occupant) int64 { return int64(share(c) * float64(of(c))) }})
			}
		}
		resource(int64(in.takes(r)), int64(size.CPUs), func(c *occupant) int64 { return int64(c.cpus) })
		resource(int64(r.GPUs), int64(size.GPUs), func(c *occupant) int64 { return int64(c.gpus) })
		resource(r.Memory, size.Memory, func(c *occupant) int64 { return c.memory })
	}
	add(&in.configured.size, func(*occupant) float64 { return 1 })
	if in.partly() {
		add(&in.part, func(c *occupant) float64 { return c.share })
	}
	return list
}

// occupant is a job that has processors of a pool, or will have them.
type occupant struct {
	*job
	cpus, gpus int32
	memory     int64 // MiB
	start      int64 // when it gets them, Unix seconds
	from       int64 // when its work begins, or began
	until      int64 // when it reaches its limit
	waits      bool  // it has not started
	// share is the share of its nodes that the partition has, if the partition is a part of the
	// pool only.
	share float64
}

// occupants are those of a pool.
type occupants struct {
	twin *Twin
	now  int64
	list []occupant
}

// occupants returns those of the pool of a partition.
func (t *Twin) occupants(in *partition, id, now int64, claims []workload.Claim) occupants {
	o, p := occupants{twin: t, now: now}, in.configured
	add := func(c occupant, id int64) {
		if c.until <= now && c.start <= now { // it has outlived its limit
			c.from, c.until = now+overrun, now+overrun
		}
		if in.partly() {
			c.share = t.share(in, c.job, id)
		}
		o.list = append(o.list, c)
	}
	claimed := make(map[int64]bool, len(claims))
	for i := range claims {
		c := &claims[i]
		if c.Job != 0 && c.Job == id || t.partitions.named(c.Partition).configured != p {
			continue
		}
		k := t.read(&workload.Job{Request: c.Request, Submit: now})
		is := occupant{job: k, cpus: k.takes, gpus: c.GPUs, memory: c.Memory, start: c.Start, from: c.From, until: c.From + c.Limit, waits: true}
		if j := t.queue.Job(c.Job); j != nil && j.Start != 0 {
			is.cpus, is.start, is.waits = max(is.cpus, j.Given), min(c.Start, now), false
			claimed[c.Job] = true
		}
		add(is, c.Job)
	}
	for j := range t.queue.Running() {
		if k := t.job(j); k.in.configured == p && !claimed[j.ID] && j.ID != id {
			add(occupant{job: k, cpus: k.takes, gpus: j.GPUs, memory: j.Memory, start: k.Start, from: k.Start, until: k.Start + k.Limit}, j.ID)
		}
	}
	return o
}

// share returns which share of the nodes of a job, named by id, a partition has. A job whose nodes are
// not known is taken to have any nodes of its own partition, all alike.
func (t *Twin) share(in *partition, k *job, id int64) float64 {
	n, of := 0, len(t.placed[id])
	for _, name := range t.placed[id] {
		if in.nodes[name] {
			n++
		}
	}
	switch {
	case of > 0:
	case k.in == in:
		return 1
	default:
		of = len(k.in.nodes)
		for name := range k.in.nodes {
			if in.nodes[name] {
				n++
			}
		}
	}
	return float64(n) / float64(max(1, of))
}

// mostSqueezes is at how many times, beside the one asked about, Room looks for room.
const mostSqueezes = 16

// squeezes returns the times between two others, ascending, at which an occupant gets processors
// and there may be too little room for the demands. Of more than mostSqueezes it returns those at
// which the most would be missing beside the claims that wait alone, and then those at which it would
// be beside all.
func (o *occupants) squeezes(demands []demand, after, before int64) []int64 {
	type change struct {
		at     int64
		by     *occupant
		begins bool
	}
	changes := make([]change, 0, 2*len(o.list))
	for i := range o.list {
		c := &o.list[i]
		changes = append(changes, change{c.start, c, true}, change{c.until, c, false})
	}
	slices.SortFunc(changes, func(a, b change) int { return cmp.Compare(a.at, b.at) })
	type squeeze struct{ at, sure, missing int64 }
	var found []squeeze
	taken, claimed := make([]int64, len(demands)), make([]int64, len(demands))
	for i := 0; i < len(changes); {
		at, begins := changes[i].at, false
		for ; i < len(changes) && changes[i].at == at; i++ {
			begins = begins || changes[i].begins
			for d := range demands {
				by := demands[d].of(changes[i].by)
				if !changes[i].begins {
					by = -by
				}
				taken[d] += by
				if changes[i].by.waits {
					claimed[d] += by
				}
			}
		}
		if !begins || at <= after || at >= before {
			continue
		}
		s := squeeze{at: at}
		for d := range demands {
			s.sure, s.missing = max(s.sure, claimed[d]-demands[d].left), max(s.missing, taken[d]-demands[d].left)
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

// alike are jobs of equal requests of one user. They are taken to end together: who submits
// many such jobs does with each what she does with the others. All others are taken to end
// independently. On real logs the room that is so forecast comes about as often as it should.
type alike struct {
	user, cpus int32
	limit      int64
}

// leave returns an upper bound on the probability that the occupants leave room for the demands at
// a time: the least of the probabilities for each.
func (o *occupants) leave(demands []demand, at int64) float64 {
	prob := 1.
	for _, d := range demands {
		prob = min(prob, o.leaveOne(&d, at))
	}
	return prob
}

// leaveOne is leave for one demand.
func (o *occupants) leaveOne(d *demand, at int64) float64 {
	most := int64(0)
	for i := range o.list {
		if c := &o.list[i]; c.start <= at && at < c.until {
			most += d.of(c)
		}
	}
	if most <= d.left {
		return 1
	}
	groups, of := make([][]stats.Part, 0, len(o.list)), make(map[alike]int, len(o.list))
	for i := range o.list {
		c := &o.list[i]
		if c.start > at || at >= c.until {
			continue
		}
		key := alike{c.User, c.cpus, c.until - c.from}
		g, ok := of[key]
		if !ok {
			g = len(groups)
			of[key], groups = g, append(groups, nil)
		}
		groups[g] = append(groups[g], stats.Part{Size: d.of(c), Prob: o.twin.runs(c, o.now, at)})
	}
	return stats.SumAtMost(groups, d.left)
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
