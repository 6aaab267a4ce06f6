package twin

import (
	"cmp"
	"slices"

	"github.com/varq-project/varq/predictor/cluster/queue"
	"github.com/varq-project/varq/predictor/cluster/walltime"
	"github.com/varq-project/varq/predictor/workload"
)

// Occupants are the jobs that have processors of the pool of a partition, or will have them: those
// that run, and those of claims. They are as they were when Twin.Occupants returned them, whatever
// happens to the Twin since. One goroutine at a time may use them.
type Occupants struct {
	now  int64
	pool *workload.Size // nil if it is not known
	ground
	list    []occupant // the plain claims come last, in the order in which they become eligible
	plain   int        // where in list they begin
	onNode  [][]int32  // by place in nodes: which of the list are known to be on it
	changes []change   // of all of them, ascending
	last    *need      // that was asked about
}

// occupant is a job that has processors of a pool, or will have them.
type occupant struct {
	size    workload.Size // that it has
	pieces  workload.Pieces
	start   int64 // when it gets them, Unix seconds
	from    int64 // when its work begins, or began
	until   int64 // when it reaches its limit
	limit   int64 // from from to until, before reservations cut it into parts
	waits   bool  // it has not started
	alone   bool  // no other is on its nodes
	user    int32
	runtime *runtime // nil if it is taken to run until its limit
	// share is the share of its nodes that the partition has. on are those of them that are known,
	// as places in the partition's nodes, and each is what it has of each.
	share float64
	on    []int
	each  workload.Size
}

// runtime is how long a job runs in all, as predicted, and the probability that it would have ended
// by now.
type runtime struct {
	walltime.Distribution
	ended float64
}

// has reports whether the occupant may have its processors at a time.
func (c *occupant) has(at int64) bool { return c.start <= at && at < c.until }

// stillThere returns the probability that an occupant has its processors at a time between its
// start and its limit.
func (c *occupant) stillThere(at int64) float64 {
	if c.runtime == nil {
		return 1
	}
	return (1 - c.runtime.Within(at-c.from)) / (1 - c.runtime.ended)
}

// change is a time, in Unix seconds, at which an occupant begins to have processors, or no longer
// has them.
type change struct {
	at     int64
	by     int32 // which of Occupants.list
	begins bool
}

// Occupants returns those of the pool of a place as of now, in Unix seconds, with
// claims among them. The job of an id, if it is not 0, is none of them: it is not in its own way,
// neither as one that runs nor as a claim.
//
// For n running jobs and m claims it takes O(n + m log m), and O(n log n) if jobs have started or
// ended since it was asked last.
func (t *Twin) Occupants(place workload.Place, id, now int64, claims []workload.Claim) *Occupants {
	in := t.partitions.at(place)
	p := in.configured
	if p == nil {
		return new(Occupants)
	}
	size := p.size // which Resize changes
	g := gathering{Occupants: &Occupants{now: now, pool: &size, ground: in.ground}, in: in, kept: reservedBy(claims)}
	running := t.running(in)
	g.list = append(make([]occupant, 0, len(running.list)+len(claims)), running.list...)
	g.runtimes = make([]runtime, 0, len(g.list))
	plain, claimed := g.claim(t, id, claims, func(c *workload.Claim) *partition {
		if of := t.partitions.at(c.Place()); of.configured == p {
			return of
		}
		return nil
	})
	for i, k := range running.jobs {
		c := &g.list[i]
		if claimed[k.ID] || k.ID == id {
			c.clear()
			continue
		}
		c.runtime = g.runtime(t, k, k.Start)
		if names := nodesOf(t.queue.Job(k.ID)); c.until <= now || g.kept.any(names) {
			is := *c
			c.clear()
			g.add(is, k.in, names)
		}
	}
	g.finish(plain, running.Occupants)
	return g.Occupants
}

// claim adds the occupants of claims, each in a partition, unless that is nil or the claim is of
// the job of an id. It returns those that are plain, and which jobs that run have a claim.
func (g *gathering) claim(t *Twin, id int64, claims []workload.Claim, in func(*workload.Claim) *partition) (plain []occupant, claimed map[int64]bool) {
	claimed = make(map[int64]bool, len(claims))
	for i := range claims {
		c := &claims[i]
		of := in(c)
		if c.Job != 0 && c.Job == id || of == nil {
			continue
		}
		j, request := t.queue.Job(c.Job), c.Request
		if j != nil && raised(j, c, g.now) {
			request.Limit = j.Start + j.Limit - c.From
		}
		is := occupant{user: t.numbers.user(request.User), size: c.Size, pieces: c.Pieces, start: c.Start, from: c.From, until: c.From + request.Limit, limit: request.Limit, waits: true}
		is.size.CPUs = of.takes(&request)
		if c.Names != nil {
			// it is on nodes that are known, and on no others
			is.alone, is.pieces = c.Alone(), workload.Pieces{}
			g.put(&is, of, c.Names)
			g.list = append(g.list, is)
			continue
		}
		if j != nil && j.Start != 0 {
			is.start, is.waits = min(c.Start, g.now), false
			if !g.licences {
				is.size.CPUs = max(is.size.CPUs, j.Given)
			}
			claimed[c.Job] = true
			is.runtime = g.runtime(t, t.read(&workload.Job{Request: request, Submit: g.now}), is.from)
		} else if c.Plain {
			g.put(&is, of, nil)
			plain = append(plain, is)
			continue
		}
		g.add(is, of, nodesOf(j))
	}
	return plain, claimed
}

// finish adds the plain claims to the others, of which the first are those of other Occupants.
func (g *gathering) finish(plain []occupant, first *Occupants) {
	slices.SortStableFunc(plain, func(a, b occupant) int { return cmp.Compare(a.start, b.start) })
	g.plain, g.list = len(g.list), append(g.list, plain...)
	g.indexBeside(first)
}

// nodesOf returns the nodes that a job is known to have, which may be nil.
func nodesOf(j *queue.Job) []string {
	if j == nil {
		return nil
	}
	return j.On
}

// raised reports whether somebody has raised the time limit of a job whose work has begun beyond
// that of its claim. For a minute varq-wrapper may not have trimmed what was left to hold.
func raised(j *queue.Job, c *workload.Claim, now int64) bool {
	return j.Start != 0 && c.From <= now-60 && j.Start+j.Limit > c.From+c.Limit+workload.LimitSlack
}

// gathering is Occupants of a partition that are being gathered.
type gathering struct {
	*Occupants
	in       *partition
	licences bool // the CPUs stand for licences, of which a job has what it asks for
	kept     reserved
	runtimes []runtime // of the occupants, so that they are in one place
	places   []int     // of the occupants, too: their on
}

// add adds an occupant of a partition, given the names of its nodes if they are known: its parts
// beside the reservations.
func (g *gathering) add(c occupant, of *partition, names []string) {
	if c.until <= g.now && c.start <= g.now { // it has outlived its limit
		c.from, c.until, c.runtime = g.now+overrun, g.now+overrun, nil
	}
	c.limit = c.until - c.from
	for part := range g.kept.beside(c, names) {
		g.put(&part.occupant, of, part.nodes)
		g.list = append(g.list, part.occupant)
	}
}

// clear makes c an occupant that never has processors.
func (c *occupant) clear() { c.start, c.until = 0, 0 }

// runtime returns how long a job runs whose work has begun; nil if it has not.
func (g *gathering) runtime(t *Twin, k *job, from int64) *runtime {
	if from > g.now {
		return nil
	}
	ended := t.endedBy(k, g.now-from)
	g.runtimes = append(g.runtimes, runtime{k.runtime, ended})
	return &g.runtimes[len(g.runtimes)-1]
}

// put says which of the partition's nodes an occupant of another has, given the names of its own if
// they are known. An other is taken to have any nodes of its own partition, all alike.
func (g *gathering) put(c *occupant, of *partition, names []string) {
	first := len(g.places)
	for _, name := range names {
		if i, ok := g.in.index[name]; ok {
			g.places = append(g.places, i)
		}
	}
	c.on = g.places[first:len(g.places):len(g.places)]
	if n := len(names); n > 0 {
		c.share = float64(len(c.on)) / float64(n)
		c.each = workload.Size{CPUs: c.size.CPUs / int32(n), GPUs: c.size.GPUs / int32(n), Memory: c.size.Memory / int64(n)}
		return
	}
	c.share = g.share(of)
}

// share returns the share of the nodes of a partition that the one of the occupants has, too.
func (g *gathering) share(of *partition) float64 {
	if of == g.in || g.part == *g.pool {
		return 1
	}
	return g.in.shareOf(of)
}
