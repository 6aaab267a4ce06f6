package features

import (
	"maps"
	"math"
	"slices"
)

// queue is the jobs that wait and run, and the CPUs in use.
type queue struct {
	waiting waiting
	running []runner       // in no order
	index   map[int64]int  // of running, by job
	used    float64        // CPUs in use
	most    float64        // CPUs ever in use at once
	parts   map[int32]room // by partition
}

// runner is a job that runs. It is small because each question visits all of them.
type runner struct {
	id         int64
	since      int64 // its start
	limit      float64
	cpus       float64
	expected   float64 // run time, seconds
	part, user int32
}

// room is the CPUs of a partition in use, and the most ever in use at once.
type room struct{ used, most float64 }

func newQueue() queue {
	return queue{waiting: newWaiting(), index: map[int64]int{}, parts: map[int32]room{}}
}

// snapshot returns what set needs of q, also after q has changed. It does not know which jobs wait.
func (q *queue) snapshot() queue {
	return queue{waiting: q.waiting.snapshot(), running: slices.Clone(q.running), used: q.used, most: q.most, parts: maps.Clone(q.parts)}
}

func (q *queue) submit(t task) {
	q.remove(t.id)
	q.waiting.add(&t)
}

func (q *queue) start(t task, at int64) {
	q.remove(t.id)
	q.index[t.id] = len(q.running)
	q.running = append(q.running, runner{t.id, at, float64(t.limit), t.cpus, t.expected, t.part, t.user})
	q.use(t.part, t.cpus)
}

// resize changes how many jobs a waiting task stands for.
func (q *queue) resize(id int64, count float64) { q.waiting.resize(id, int64(count)) }

func (q *queue) use(part int32, cpus float64) {
	q.used += cpus
	q.most = max(q.most, q.used)
	r := q.parts[part]
	r.used += cpus
	r.most = max(r.most, r.used)
	q.parts[part] = r
}

func (q *queue) remove(id int64) {
	q.waiting.remove(id)
	i, ok := q.index[id]
	if !ok {
		return
	}
	delete(q.index, id)
	q.use(q.running[i].part, -q.running[i].cpus)
	last := len(q.running) - 1
	if i != last {
		q.running[i] = q.running[last]
		q.index[q.running[i].id] = i
	}
	q.running = q.running[:last]
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
	w, r := q.waiting.ahead(t, now), q.ends(t, now)
	most := max(q.most, t.cpus)
	here := q.parts[t.part]
	here.most = max(here.most, t.cpus)
	v.set(waitingJobs, w.count)
	v.set(waitingAsked, math.Log1p(w.asked))
	v.set(waitingExpected, math.Log1p(w.expected))
	v.set(waitingCPUs, w.cpus)
	v.set(waitingOldest, logDelay(w.oldest))
	v.set(waitingLargest, w.largest)
	v.set(lineJobs, w.line.count)
	v.set(lineExpected, math.Log1p(w.line.expected))
	v.set(lineOldest, logDelay(w.line.oldest))
	v.set(partExpected, math.Log1p(w.part.expected))
	v.set(partOldest, logDelay(w.part.oldest))
	v.set(smallerOldest, logDelay(w.smaller))
	v.set(largerOldest, logDelay(w.larger))
	v.set(cellOldest, logDelay(w.alike))
	v.set(ownJobs, w.own.count)
	v.set(ownOldest, logDelay(w.own.oldest))
	v.set(aheadExpected, math.Log1p(w.ahead))
	v.set(runningAsked, math.Log1p(r.asked))
	v.set(runningExpected, math.Log1p(r.expected))
	v.set(runningJobs, r.count)
	v.set(ownRunningCPUs, r.own.cpus)
	v.set(freeCPUs, q.most-q.used)
	v.set(spareCPUs, q.most-q.used-t.cpus)
	v.set(partFreeCPUs, here.most-here.used)
	v.set(partSpareCPUs, here.most-here.used-t.cpus)
	v.set(drainAll, logDelay((w.expected+r.expected)/most))
	v.set(drainAhead, logDelay((w.ahead+r.expected)/most))
	v.set(drainPart, logDelay((w.part.expected+r.part)/here.most))
	v.set(ownAsked, logDelay(w.own.asked))
	v.set(ownExpected, logDelay(w.own.expected))
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
func (r *runner) left(now int64) (asked, expected float64) {
	age := float64(now - r.since)
	asked = max(0, r.limit-age)
	// A job that is older than was expected is expected to run for another third of its age.
	return asked, min(asked, max(r.expected-age, age/3))
}
