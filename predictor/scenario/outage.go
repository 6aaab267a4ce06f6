package scenario

import "github.com/varq-project/varq/predictor/sched"

// Outage is a time in which no job starts; those that run go on to their end. In
// seconds; there is none if it lasts for 0.
type Outage struct {
	After int64 // the first submission
	Lasts int64
}

// outage is one in the course of time.
type outage struct {
	until int64
	taken map[*sched.Job]bool // stand for the processors that are out of order
}

// breakDown lets the outage happen in its time; the first job comes now.
func (r *run) breakDown(now int64) {
	if r.Outage.Lasts == 0 {
		return
	}
	from := now + r.Outage.After
	r.outage = outage{until: from + r.Outage.Lasts, taken: make(map[*sched.Job]bool)}
	r.sim.Call(from, r.take)
}

// take lets nobody have the processors that are free until the outage is over.
func (r *run) take(now int64) {
	free := r.sim.Scheduler().Free()
	if free == 0 || now >= r.outage.until {
		return
	}
	left := r.outage.until - now
	j := &sched.Job{ID: -1, Submit: now, Start: now, Procs: free, Run: left, Limit: left}
	r.outage.taken[j] = true
	r.sim.Place(j)
}

// recovered reports whether j stood for processors that were out of order. If it
// is a job that ends during the outage, its processors are taken too.
func (r *run) recovered(now int64, j *sched.Job) bool {
	if r.outage.taken[j] {
		delete(r.outage.taken, j)
		return true
	}
	if from := r.first + r.Outage.After; now >= from && now < r.outage.until {
		r.sim.Call(now, r.take)
	}
	return false
}
