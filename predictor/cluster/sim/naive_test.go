package sim

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/varq-project/varq/predictor/cluster/sched"
)

// naive is a second implementation of sched and sim together, written from their documentation.
// It is simple rather than fast: it uses only lists, stores nothing that it can compute, and
// looks at everything at every moment.
type naive struct {
	workload
	now    int64
	jobs   []*naiveJob // of the workload, in its order
	calls  []act       // pending, in the order of their announcement
	joined int
	gained bool // since the last settle, something ended earlier than planned
	lost   bool // since the last settle, something took more than planned
	story  []happening
}

type naiveJob struct {
	entry
	index  int
	phase  phase
	hard   bool
	key    float64
	joined int
	start  int64 // when it started
	until  int64 // planned end of a running job
	place  int64 // planned start of a waiting job; Never: it has none
}

type phase uint8

const (
	toCome phase = iota
	queued
	reserved
	running
	gone
)

// claim is processors that are taken for a time.
type claim struct {
	from, to int64
	procs    int32
}

const never = sched.Never

func later(t, duration int64) int64 {
	if t > never-duration {
		return never
	}
	return t + duration
}

// simulateNaively simulates w, and returns what happened.
func simulateNaively(w workload) []happening {
	n := &naive{workload: w, now: w.start}
	for i, e := range w.entries {
		n.jobs = append(n.jobs, &naiveJob{entry: e, index: i, place: never})
	}
	for i, e := range w.entries {
		switch e.kind {
		case placed:
			n.run(n.jobs[i], e.asked)
			n.lost = true
		case failure:
			n.calls = append(n.calls, act{at: e.submit, kind: fail, job: i})
		}
	}
	n.calls = append(n.calls, w.acts...)
	for next := n.next(); next != never; next = n.next() {
		n.now = max(n.now, next)
		n.moment()
	}
	return n.story
}

func (n *naive) tell(what string, j *naiveJob, value int64) {
	n.story = append(n.story, happening{n.now, j.index, what, value})
}

// next returns the next moment at which anything can happen.
func (n *naive) next() int64 {
	next := int64(never)
	for _, j := range n.jobs {
		switch {
		case j.phase == toCome && (j.kind == submitted || j.kind == reserving):
			next = min(next, j.submit)
		case j.phase == reserved, j.phase == queued:
			next = min(next, j.place)
		case j.phase == running:
			next = min(next, j.over())
			if j.planned() < j.limit {
				next = min(next, j.until)
			}
		}
	}
	for _, c := range n.calls {
		next = min(next, c.at)
	}
	return next
}

// moment simulates all that happens now.
func (n *naive) moment() {
	for n.end() || n.call() || n.arrive() {
	}
	n.pass()
}

func (n *naive) end() bool {
	for _, j := range n.in(running) {
		if j.over() <= n.now {
			n.vacate(j)
			j.phase = gone
			n.tell("ends", j, 0)
			return true
		}
	}
	return false
}

func (n *naive) call() bool {
	first := -1
	for i, c := range n.calls {
		if c.at <= n.now && (first < 0 || n.moved(c.at) < n.moved(n.calls[first].at)) {
			first = i
		}
	}
	if first < 0 {
		return false
	}
	c := n.calls[first]
	n.calls = slices.Delete(n.calls, first, first+1)
	n.do(c)
	return true
}

// moved returns when something that was announced for t happens: not before the run begins.
func (n *naive) moved(t int64) int64 { return max(t, n.start) }

func (n *naive) do(c act) {
	j := n.jobs[c.job]
	switch {
	case c.kind == fail:
		if j.procs = min(j.procs, n.freeNow()); j.procs > 0 {
			n.run(j, n.now)
			n.lost = true
		}
	case c.kind == reorder:
		for _, q := range n.in(queued) {
			q.key = n.keyOf(q)
		}
	case c.kind == withdraw && (j.phase == queued || j.phase == reserved):
		n.gained = n.gained || j.place != never
		j.phase, j.place = gone, never
		n.tell("leaves", j, 0)
	case c.kind == stop && j.phase == running:
		n.stop(j)
	case c.kind == prolong && j.phase == running:
		j.run = later(j.run, c.value)
	case c.kind == shorten && (j.phase == queued || j.phase == reserved) && c.value < j.limit:
		j.limit = max(1, c.value)
		n.gained = n.gained || j.place != never
	case c.kind == shorten && j.phase == running && c.value < j.limit:
		j.limit = c.value
		if until := max(n.now, later(j.start, j.limit)); until < j.until {
			j.until = until
			n.gained = true
		}
	}
}

func (n *naive) arrive() bool {
	var first *naiveJob
	for _, j := range n.jobs {
		if j.phase == toCome && (j.kind == submitted || j.kind == reserving) && j.submit <= n.now &&
			(first == nil || n.moved(j.submit) < n.moved(first.submit)) {
			first = j
		}
	}
	switch {
	case first == nil:
		return false
	case first.kind == reserving:
		n.reserve(first)
	default:
		first.joined = n.join()
		n.enqueue(first)
	}
	return true
}

func (n *naive) join() int { n.joined++; return n.joined }

func (n *naive) enqueue(j *naiveJob) {
	j.phase, j.place = queued, never
	j.key = n.keyOf(j)
}

func (n *naive) keyOf(j *naiveJob) float64 {
	switch n.order {
	case "lwf":
		return float64(j.procs) * float64(j.planned())
	case "aging":
		return float64(j.procs) - float64(n.now-j.submit)/4
	}
	return 0
}

// run makes j a running job from start on.
func (n *naive) run(j *naiveJob, start int64) {
	j.phase, j.place, j.start = running, never, start
	j.until = later(start, j.planned())
	n.tell("starts", j, 0)
}

// vacate frees the processors of a running job.
func (n *naive) vacate(j *naiveJob) {
	n.gained = n.gained || j.until > n.now
}

func (n *naive) stop(j *naiveJob) {
	n.vacate(j)
	n.tell("stops", j, n.now-j.start)
	j.hard = false
	n.enqueue(j)
}

// planned returns the run time that the scheduler assumes for the job.
func (j *naiveJob) planned() int64 {
	if j.estimate > 0 && !j.hard {
		return min(j.estimate, j.limit)
	}
	return j.limit
}

// over returns when the running job ends.
func (j *naiveJob) over() int64 { return later(j.start, min(j.run, j.limit)) }

// in returns the jobs in a phase. Queued jobs are in the order of the queue, and reserved jobs in
// the order of their start.
func (n *naive) in(p phase) []*naiveJob {
	var jobs []*naiveJob
	for _, j := range n.jobs {
		if j.phase == p {
			jobs = append(jobs, j)
		}
	}
	slices.SortFunc(jobs, func(a, b *naiveJob) int {
		if p == reserved {
			return cmp.Or(cmp.Compare(a.place, b.place), cmp.Compare(a.joined, b.joined))
		}
		return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.submit, b.submit),
			cmp.Compare(a.id, b.id), cmp.Compare(a.joined, b.joined))
	})
	return jobs
}

// claims returns all claims: of running jobs, of reservations and of places.
func (n *naive) claims() []claim {
	var claims []claim
	for _, j := range n.jobs {
		switch {
		case j.phase == running:
			claims = append(claims, claim{j.start, j.until, j.procs})
		case j.phase == reserved, j.phase == queued && j.place != never:
			claims = append(claims, j.claim(j.place))
		}
	}
	return claims
}

func (j *naiveJob) claim(at int64) claim { return claim{at, later(at, j.planned()), j.procs} }

func (n *naive) free(claims []claim, t int64) int32 {
	free := n.procs
	for _, c := range claims {
		if c.from <= t && t < c.to {
			free -= c.procs
		}
	}
	return free
}

func (n *naive) fits(claims []claim, at, length int64, procs int32) bool {
	if n.free(claims, at) < procs {
		return false
	}
	for _, c := range claims {
		if at < c.from && c.from < later(at, length) && n.free(claims, c.from) < procs {
			return false
		}
	}
	return true
}

// earliest returns the first time from `from` on at which there is room. A time later than
// `from` is always the end of a claim.
func (n *naive) earliest(claims []claim, from, length int64, procs int32) int64 {
	best := int64(never)
	try := func(t int64) {
		if from <= t && t < best && n.fits(claims, t, length, procs) {
			best = t
		}
	}
	try(from)
	for _, c := range claims {
		try(c.to)
	}
	return best
}

// latest returns the last time from now to `to` at which there is room, or Never. If the
// time is earlier than `to`, then a claim begins length after it.
func (n *naive) latest(claims []claim, to, length int64, procs int32) int64 {
	best := int64(-1)
	try := func(t int64) {
		if n.now <= t && t <= to && t > best && n.fits(claims, t, length, procs) {
			best = t
		}
	}
	try(to)
	for _, c := range claims {
		try(c.from - length)
	}
	if best < 0 {
		return never
	}
	return best
}

// overrun extends the planned end of jobs that have outlived their estimates, by as long
// again as they have run.
func (n *naive) overrun() {
	for _, j := range n.in(running) {
		if j.until <= n.now && j.planned() < j.limit {
			j.until = max(n.now+1, min(later(n.now, n.now-j.start), later(j.start, j.limit)))
			n.lost = true
		}
	}
}

// settle gives places to the jobs of the queue.
func (n *naive) settle() {
	queue := n.in(queued)
	switch {
	case n.backfill < sched.Conservative:
		return
	case n.backfill == sched.Timeline, n.lost:
		n.replace(queue)
	case n.gained:
		for _, j := range queue {
			if j.place == never {
				continue
			}
			old := j.place
			j.place = never
			j.place = min(old, n.earliest(n.claims(), n.now, j.planned(), j.procs))
		}
	}
	for _, j := range queue {
		if j.place == never {
			j.place = n.earliest(n.claims(), n.now, j.planned(), j.procs)
		}
	}
	n.gained, n.lost = false, false
}

// replace finds new places for some jobs.
func (n *naive) replace(jobs []*naiveJob) {
	for _, j := range jobs {
		j.place = never
	}
	for _, j := range jobs {
		j.place = n.earliest(n.claims(), n.now, j.planned(), j.procs)
	}
}

// reserve grants j the reservation nearest to the time that it asks for.
func (n *naive) reserve(j *naiveJob) {
	n.overrun()
	n.settle()
	queue := n.in(queued)
	protected := int(math.Ceil(n.protected * float64(len(queue))))
	trial := []claim{}
	for _, r := range append(n.in(running), n.in(reserved)...) {
		if r.phase == running {
			trial = append(trial, claim{r.start, r.until, r.procs})
		} else {
			trial = append(trial, r.claim(r.place))
		}
	}
	from := n.now
	for _, q := range queue[:protected] {
		at := q.place
		if n.backfill < sched.Conservative {
			at = n.earliest(trial, from, q.planned(), q.procs)
		}
		trial = append(trial, q.claim(at))
		if n.backfill == sched.NoBackfill {
			from = at
		}
	}
	j.hard = true
	asked := max(j.asked, n.now)
	start := n.earliest(trial, asked, j.limit, j.procs)
	if before := n.latest(trial, asked, j.limit, j.procs); before != never && asked-before <= start-asked {
		start = before
	}
	j.phase, j.place, j.joined = reserved, start, n.join()
	n.tell("reserves", j, start)
	if n.backfill >= sched.Conservative {
		n.replace(queue[protected:])
	}
}

// pass starts the jobs that can start now.
func (n *naive) pass() {
	n.overrun()
	for _, j := range n.in(reserved) {
		if j.place <= n.now {
			n.makeRoom(j)
			n.run(j, n.now)
		}
	}
	switch n.backfill {
	case sched.NoBackfill:
		n.startHeads()
	case sched.EASY:
		n.startHeads()
		n.easy()
	default:
		n.settle()
		for _, j := range n.in(queued) {
			if j.place <= n.now {
				n.run(j, n.now)
			}
		}
	}
	if n.freeNow() < 0 {
		panic(fmt.Sprintf("naive: %d processors free at %d", n.freeNow(), n.now))
	}
}

func (n *naive) startHeads() {
	for _, j := range n.in(queued) {
		if !n.fits(n.claims(), n.now, j.planned(), j.procs) {
			return
		}
		n.run(j, n.now)
	}
}

func (n *naive) easy() {
	queue := n.in(queued)
	if len(queue) == 0 {
		return
	}
	head := queue[0]
	shadow := head.claim(n.earliest(n.claims(), n.now, head.planned(), head.procs))
	for _, j := range queue[1:] {
		if n.fits(append(n.claims(), shadow), n.now, j.planned(), j.procs) {
			n.run(j, n.now)
		}
	}
}

// makeRoom stops jobs until j can start: the cheapest first.
func (n *naive) makeRoom(j *naiveJob) {
	cost := func(v *naiveJob) float64 {
		procs, run, left := float64(v.procs), float64(n.now-v.start), float64(max(0, v.until-n.now))
		return n.restart.A*procs*run + n.restart.B*procs*left
	}
	for n.freeNow() < j.procs {
		if n.restart == nil {
			panic(fmt.Sprintf("naive: reservation %d missed", j.id))
		}
		var cheapest *naiveJob
		for _, v := range n.in(running) {
			if !v.hard && (cheapest == nil || cost(v) < cost(cheapest) || cost(v) == cost(cheapest) && v.id < cheapest.id) {
				cheapest = v
			}
		}
		if cheapest == nil {
			panic(fmt.Sprintf("naive: no room for reservation %d", j.id))
		}
		n.stop(cheapest)
	}
}

// freeNow returns the number of processors on which nothing runs.
func (n *naive) freeNow() int32 {
	free := n.procs
	for _, j := range n.in(running) {
		free -= j.procs
	}
	return free
}
