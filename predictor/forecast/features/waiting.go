package features

import "math"

// waiting is the jobs that wait, added up by what they ask for and by user. A question costs O(s)
// with s different requests, and an event O(log n) with n jobs. Sums are of integers: what is added
// is taken away again without a trace.
type waiting struct {
	jobs     map[int64]*waiter
	requests []*request // in no order
	index    map[asked]*request
	users    map[int32]*owner
}

// waiter is a job that waits.
type waiter struct {
	request *request
	owner   *owner
	since   int64
	count   int64 // jobs that it stands for
	run     int64 // expected run time of each, in parts of a second
}

// parts of a second are the unit in which expected run times are added up.
const parts = 1024

// asked is what a job asks for, and of whom.
type asked struct {
	line  int32
	cpus  float64
	limit int64
}

// request is the jobs that ask for the same.
type request struct {
	asked
	part, cell int32
	i          int // where it is in waiting.requests
	sums
}

// owner is the jobs of a user.
type owner struct {
	user  int32
	asked int64 // their limits, in seconds
	sums
}

// sums are those of some jobs.
type sums struct {
	count int64
	run   int64 // expected, in parts of a second
	since ages
}

func newWaiting() waiting {
	return waiting{jobs: map[int64]*waiter{}, index: map[asked]*request{}, users: map[int32]*owner{}}
}

// snapshot returns a copy that later events do not change. It does not know which jobs wait.
func (w *waiting) snapshot() waiting {
	snapshot := waiting{requests: make([]*request, len(w.requests)), users: make(map[int32]*owner, len(w.users))}
	for i, r := range w.requests {
		same := *r
		same.since = r.since.snapshot()
		snapshot.requests[i] = &same
	}
	for user, o := range w.users {
		same := *o
		same.since = o.since.snapshot()
		snapshot.users[user] = &same
	}
	return snapshot
}

func (w *waiting) add(t *task) {
	key := asked{t.line, t.cpus, t.limit}
	r, ok := w.index[key]
	if !ok {
		r = &request{asked: key, part: t.part, cell: t.cell, i: len(w.requests)}
		w.index[key], w.requests = r, append(w.requests, r)
	}
	o, ok := w.users[t.user]
	if !ok {
		o = &owner{user: t.user}
		w.users[t.user] = o
	}
	j := &waiter{request: r, owner: o, since: t.since, run: int64(math.Round(t.expected * parts))}
	w.jobs[t.id] = j
	r.since.add(t.since)
	o.since.add(t.since)
	w.change(j, int64(t.count))
}

// resize changes how many jobs a waiting job stands for.
func (w *waiting) resize(id, count int64) {
	if j, ok := w.jobs[id]; ok {
		w.change(j, count-j.count)
	}
}

// change adds to how many jobs j stands for.
func (w *waiting) change(j *waiter, by int64) {
	j.count += by
	j.request.count += by
	j.request.run += by * j.run
	j.owner.count += by
	j.owner.run += by * j.run
	j.owner.asked += by * j.request.limit
}

func (w *waiting) remove(id int64) {
	j, ok := w.jobs[id]
	if !ok {
		return
	}
	w.change(j, -j.count)
	delete(w.jobs, id)
	r, o := j.request, j.owner
	r.since.remove(j.since)
	o.since.remove(j.since)
	if r.since.none() {
		last := len(w.requests) - 1
		w.requests[r.i] = w.requests[last]
		w.requests[r.i].i = r.i
		w.requests = w.requests[:last]
		delete(w.index, r.asked)
	}
	if o.since.none() {
		delete(w.users, o.user)
	}
}

// ahead is what waits, as a task sees it that is not among it. Ages are in seconds, work in
// CPU-seconds.
type ahead struct {
	count, cpus, asked, expected, oldest, largest float64
	line                                          struct{ count, expected, oldest float64 }
	part                                          struct{ expected, oldest float64 }
	// age of the oldest that asks for no more, for no less, and in the same cell
	smaller, larger, alike float64
	own                    struct{ count, oldest, asked, expected float64 }
	ahead                  float64 // expected of those with no more CPUs
}

// ahead returns what waits as t sees it.
func (w *waiting) ahead(t *task, now int64) (a ahead) {
	self := w.jobs[t.id]
	for _, r := range w.requests {
		count, run, oldest := r.without(self, self != nil && self.request == r, now)
		if count == 0 {
			continue
		}
		cpus, work := count*r.cpus, run*r.cpus
		a.count += count
		a.cpus += cpus
		a.asked += cpus * float64(r.limit)
		a.expected += work
		a.oldest = max(a.oldest, oldest)
		a.largest = max(a.largest, r.cpus)
		if r.cpus <= t.cpus {
			a.ahead += work
		}
		if r.part == t.part {
			a.part.expected += work
			a.part.oldest = max(a.part.oldest, oldest)
		}
		if r.line != t.line {
			continue
		}
		a.line.count += count
		a.line.expected += work
		a.line.oldest = max(a.line.oldest, oldest)
		if r.cpus <= t.cpus && r.limit <= t.limit {
			a.smaller = max(a.smaller, oldest)
		}
		if r.cpus >= t.cpus && r.limit >= t.limit {
			a.larger = max(a.larger, oldest)
		}
		if r.cell == t.cell {
			a.alike = max(a.alike, oldest)
		}
	}
	if o, ok := w.users[t.user]; ok {
		is := self != nil && self.owner == o
		a.own.count, a.own.expected, a.own.oldest = o.without(self, is, now)
		a.own.asked = float64(o.asked)
		if is {
			a.own.asked -= float64(self.count * self.request.limit)
		}
	}
	return a
}

// without returns how many jobs there are, the seconds that they are expected to run, and the age
// of the oldest: but for one job, if it is one of them.
func (s *sums) without(j *waiter, is bool, now int64) (count, run, oldest float64) {
	n, all, first := s.count, s.run, s.since.first()
	if is {
		n, all, first = n-j.count, all-j.count*j.run, s.since.firstBut(j.since)
	}
	if n == 0 {
		return 0, 0, 0
	}
	return float64(n), float64(all) / parts, max(0, float64(now-first))
}
