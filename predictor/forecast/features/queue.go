package features

import "math"

// queue is the jobs that wait and run, in no order, and the CPUs in use.
type queue struct {
	pending, running []task          // task.since of a running job is its start
	index            map[int64]place // by job
	used             float64         // CPUs in use
	most             float64         // CPUs ever in use at once
	parts            map[int32]room  // by partition
}

// place is where a job is in a queue.
type place struct {
	running bool // in running, not in pending
	i       int
}

// room is the CPUs of a partition in use, and the most ever in use at once.
type room struct{ used, most float64 }

func newQueue() queue {
	return queue{index: map[int64]place{}, parts: map[int32]room{}}
}

func (q *queue) submit(t task) {
	q.remove(t.id)
	q.index[t.id] = place{false, len(q.pending)}
	q.pending = append(q.pending, t)
}

func (q *queue) start(t task, at int64) {
	q.remove(t.id)
	t.since = at
	q.index[t.id] = place{true, len(q.running)}
	q.running = append(q.running, t)
	q.use(&t, t.cpus)
}

// resize changes how many jobs a waiting task stands for.
func (q *queue) resize(id int64, count float64) {
	if p, ok := q.index[id]; ok && !p.running {
		q.pending[p.i].count = count
	}
}

func (q *queue) use(t *task, cpus float64) {
	q.used += cpus
	q.most = max(q.most, q.used)
	r := q.parts[t.part]
	r.used += cpus
	r.most = max(r.most, r.used)
	q.parts[t.part] = r
}

func (q *queue) remove(id int64) {
	p, ok := q.index[id]
	if !ok {
		return
	}
	delete(q.index, id)
	list := &q.pending
	if p.running {
		list = &q.running
		q.use(&(*list)[p.i], -(*list)[p.i].cpus)
	}
	last := len(*list) - 1
	if p.i != last {
		(*list)[p.i] = (*list)[last]
		q.index[(*list)[p.i].id] = p
	}
	*list = (*list)[:last]
}

// runs returns the number of a user's jobs that run.
func (q *queue) runs(user int32) (n int) {
	for i := range q.running {
		if q.running[i].user == user {
			n++
		}
	}
	return n
}

// set sets the features of the jobs that wait and run, as seen by t.
func (q *queue) set(v *Vector, t *task, now int64) {
	var count, cpus, asked, expected, oldest, largest float64
	var line struct{ count, expected, oldest float64 }
	var part struct{ expected, oldest float64 }
	var smaller, larger, alike float64                       // age of the oldest that asks for no more, no less
	var own struct{ count, oldest, asked, expected float64 } // seconds, one after the other
	ahead := 0.
	for i := range q.pending {
		p := &q.pending[i]
		if p.id == t.id {
			continue // t is not ahead of itself
		}
		age := float64(now - p.since)
		work := p.count * p.cpus * p.expected
		count += p.count
		cpus += p.count * p.cpus
		asked += p.count * p.cpus * float64(p.limit)
		expected += work
		oldest = max(oldest, age)
		largest = max(largest, p.cpus)
		if p.cpus <= t.cpus {
			ahead += work
		}
		if p.part == t.part {
			part.expected += work
			part.oldest = max(part.oldest, age)
		}
		if p.line == t.line {
			line.count += p.count
			line.expected += work
			line.oldest = max(line.oldest, age)
			if p.cpus <= t.cpus && p.limit <= t.limit {
				smaller = max(smaller, age)
			}
			if p.cpus >= t.cpus && p.limit >= t.limit {
				larger = max(larger, age)
			}
			if p.cell == t.cell {
				alike = max(alike, age)
			}
		}
		if p.user == t.user {
			own.count += p.count
			own.oldest = max(own.oldest, age)
			own.asked += p.count * float64(p.limit)
			own.expected += p.count * p.expected
		}
	}
	r := q.ends(t, now)
	most := max(q.most, t.cpus)
	here := q.parts[t.part]
	here.most = max(here.most, t.cpus)
	v.set(waitingJobs, count)
	v.set(waitingAsked, math.Log1p(asked))
	v.set(waitingExpected, math.Log1p(expected))
	v.set(waitingCPUs, cpus)
	v.set(waitingOldest, logDelay(oldest))
	v.set(waitingLargest, largest)
	v.set(lineJobs, line.count)
	v.set(lineExpected, math.Log1p(line.expected))
	v.set(lineOldest, logDelay(line.oldest))
	v.set(partExpected, math.Log1p(part.expected))
	v.set(partOldest, logDelay(part.oldest))
	v.set(smallerOldest, logDelay(smaller))
	v.set(largerOldest, logDelay(larger))
	v.set(cellOldest, logDelay(alike))
	v.set(ownJobs, own.count)
	v.set(ownOldest, logDelay(own.oldest))
	v.set(aheadExpected, math.Log1p(ahead))
	v.set(runningAsked, math.Log1p(r.asked))
	v.set(runningExpected, math.Log1p(r.expected))
	v.set(runningJobs, r.count)
	v.set(ownRunningCPUs, r.own.cpus)
	v.set(freeCPUs, q.most-q.used)
	v.set(spareCPUs, q.most-q.used-t.cpus)
	v.set(partFreeCPUs, here.most-here.used)
	v.set(partSpareCPUs, here.most-here.used-t.cpus)
	v.set(drainAll, logDelay((expected+r.expected)/most))
	v.set(drainAhead, logDelay((ahead+r.expected)/most))
	v.set(drainPart, logDelay((part.expected+r.part)/here.most))
	v.set(ownAsked, logDelay(own.asked))
	v.set(ownExpected, logDelay(own.expected))
	v.set(ownRunningJobs, r.own.count)
	v.set(ownSoonestEnd, logDelay(r.own.soonest))
	v.set(ownLastEnd, logDelay(r.own.last))
	v.set(ownSoonestExpected, logDelay(r.own.soonestExpected))
	v.set(ownLastExpected, logDelay(r.own.lastExpected))
}

// ends says how much longer the running jobs may run.
type ends struct {
	count           float64
	asked, expected float64  // CPU-seconds
	part            float64  // expected, in the same partition
	own             struct { // of the same user
		count, cpus                   float64
		soonest, last                 float64 // seconds to the end at the limit
		soonestExpected, lastExpected float64
	}
}

func (q *queue) ends(t *task, now int64) (e ends) {
	for i := range q.running {
		r := &q.running[i]
		left, expected := r.left(now)
		e.count++
		e.asked += r.cpus * left
		e.expected += r.cpus * expected
		if r.part == t.part {
			e.part += r.cpus * expected
		}
		if own := &e.own; r.user == t.user {
			if own.count == 0 {
				own.soonest, own.soonestExpected = left, expected
			}
			own.count++
			own.cpus += r.cpus
			own.soonest, own.soonestExpected = min(own.soonest, left), min(own.soonestExpected, expected)
			own.last, own.lastExpected = max(own.last, left), max(own.lastExpected, expected)
		}
	}
	return e
}

// left returns for how many more seconds a running job may run until its limit, and for how
// many more it is expected to.
func (t *task) left(now int64) (asked, expected float64) {
	age := float64(now - t.since)
	asked = max(0, float64(t.limit)-age)
	// A job that is older than was expected is expected to run for another third of its age.
	return asked, min(asked, max(t.expected-age, age/3))
}
