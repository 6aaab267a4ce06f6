package sizing

import (
	"iter"
	"math"
	"slices"
	"sort"

	"github.com/varq-project/varq/predictor/cluster/queue"
	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/workload"
)

// never is a time that does not come.
const never = math.MaxInt64

// Chooser chooses the sizes of jobs.
type Chooser interface {
	// Choose returns the number of processors of j, which is submitted now, or 0 if j is to take
	// what is free, up to its Most, when it can start. j is not rigid, and nothing but its Run may
	// be kept from the Chooser.
	Choose(c *Cluster, j *Job) (procs int32)
}

// Reconsiderer is a Chooser that chooses anew for jobs that wait. A job keeps its place in the
// queue.
type Reconsiderer interface {
	Chooser
	// Every returns how many seconds after a choice a job that still waits chooses anew, or 0 if
	// never.
	Every() int64
	// Reconsider returns the number of processors of j from now on, which waits for held.
	Reconsider(c *Cluster, j *Job, held int32) (procs int32)
}

// Cluster is a cluster in the course of time. At one moment jobs end first, then jobs are
// submitted, and then jobs start. With q jobs in the queue and r running an event costs O(q + r).
type Cluster struct {
	procs   int32
	chooser Chooser
	anew    Reconsiderer // or nil
	// Queue has the jobs that wait and run, for forecasters.
	queue     *queue.Queue
	observers []forecast.Observer
	record    func(*Outcome)

	now     int64
	free    int32
	waiting []*entry // in the order of their submission
	running []*entry // in the order of their ends
	later   []Job    // that will come, in the order of their submission
}

// entry is a job that waits or runs.
type entry struct {
	*Job
	shape Shape // Procs is 0 while the job takes what is free
	start int64
	chose int64 // when, for the last time
}

// planned returns when the running job reaches its limit.
func (e *entry) planned() int64 { return e.start + e.shape.Limit }

func (e *entry) end() int64 { return e.start + e.shape.Run }

// Outcome is what became of a job.
type Outcome struct {
	Job   *Job
	Shape Shape
	Start int64
}

// End returns when the job ended.
func (o *Outcome) End() int64 { return o.Start + o.Shape.Run }

// Turnaround returns the seconds from the submission until the end.
func (o *Outcome) Turnaround() int64 { return o.End() - o.Job.Submit }

// NewCluster returns an idle cluster. The observers are told of all events, after q.
func NewCluster(procs int32, q *queue.Queue, chooser Chooser, observers ...forecast.Observer) *Cluster {
	c := &Cluster{procs: procs, free: procs, queue: q, chooser: chooser, observers: observers}
	if r, ok := chooser.(Reconsiderer); ok && r.Every() > 0 {
		c.anew = r
	}
	return c
}

// Run simulates the jobs, which are in the order of their submission, and yields what became of
// each, in the order of their ends.
func (c *Cluster) Run(jobs []Job) iter.Seq[Outcome] {
	return func(yield func(Outcome) bool) {
		going := true
		c.later = jobs
		c.record = func(o *Outcome) { going = going && yield(*o) }
		for going && c.next() {
			c.finish()
			c.reconsider()
			c.arrive()
			c.pass()
		}
	}
}

// next advances to the next moment at which anything happens. It reports false if nothing does.
func (c *Cluster) next() bool {
	next := int64(never)
	if len(c.running) > 0 {
		next = c.running[0].end()
	}
	if len(c.later) > 0 {
		next = min(next, max(c.now, c.later[0].Submit))
	}
	if c.anew != nil {
		for _, e := range c.waiting {
			if !e.Rigid() {
				next = min(next, e.chose+c.anew.Every())
			}
		}
	}
	c.now = next
	return next != never
}

// reconsider lets the jobs choose anew whose last choice was long enough ago.
func (c *Cluster) reconsider() {
	if c.anew == nil {
		return
	}
	for _, e := range c.waiting {
		if e.Rigid() || c.now < e.chose+c.anew.Every() {
			continue
		}
		e.chose = c.now
		if n := c.anew.Reconsider(c, e.Job, e.shape.Procs); n != e.shape.Procs {
			e.shape = e.At(n)
			c.queue.Submit(e.observed())
		}
	}
}

// finish ends the jobs that end now.
func (c *Cluster) finish() {
	for len(c.running) > 0 && c.running[0].end() <= c.now {
		e := c.running[0]
		c.running = slices.Delete(c.running, 0, 1)
		c.free += e.shape.Procs
		job := e.observed()
		job.Start, job.End = e.start, c.now
		c.queue.Remove(job.ID)
		for _, o := range c.observers {
			o.Ended(&job)
		}
		c.record(&Outcome{e.Job, e.shape, e.start})
	}
}

// arrive submits the jobs that come now.
func (c *Cluster) arrive() {
	for len(c.later) > 0 && c.later[0].Submit <= c.now {
		e := &entry{Job: &c.later[0], chose: c.now}
		c.later = c.later[1:]
		e.shape = e.Asked
		if !e.Rigid() {
			if n := c.chooser.Choose(c, e.Job); n > 0 {
				e.shape = e.At(n)
			} else {
				e.shape = Shape{}
			}
		}
		c.waiting = append(c.waiting, e)
		job := e.observed()
		c.queue.Submit(job)
		for _, o := range c.observers {
			o.Submitted(&job)
		}
	}
}

// observed returns the job as forecasters see it, with neither start nor end. A job that takes what
// is free is seen with the least that it takes until it starts.
func (e *entry) observed() workload.Job {
	shape := e.shape
	if shape.Procs == 0 {
		shape = e.At(e.Least)
	}
	return workload.Job{ID: e.ID, Request: e.request(shape), Submit: e.Submit, Eligible: e.Submit}
}

// pass starts all jobs that can start now: from the head of the queue as long as they fit, and then
// those that do not delay the one that is first now, by their limits.
func (c *Cluster) pass() {
	at := 0
	for at < len(c.waiting) && c.waiting[at].least() <= c.free {
		c.start(c.waiting[at], min(c.free, c.waiting[at].most()))
		at++
	}
	c.waiting = slices.Delete(c.waiting, 0, at)
	if len(c.waiting) == 0 || c.free == 0 {
		return
	}
	shadow, extra := c.shadow(c.waiting[0].least())
	kept := c.waiting[:1]
	for _, e := range c.waiting[1:] {
		n := c.admitted(e, shadow, extra)
		if n == 0 {
			kept = append(kept, e)
			continue
		}
		if c.now+e.At(n).Limit > shadow {
			extra -= n
		}
		c.start(e, n)
	}
	clear(c.waiting[len(kept):])
	c.waiting = kept
}

// least and most return between which numbers of processors a waiting job starts on.
func (e *entry) least() int32 {
	if e.shape.Procs > 0 {
		return e.shape.Procs
	}
	return e.Least
}

func (e *entry) most() int32 {
	if e.shape.Procs > 0 {
		return e.shape.Procs
	}
	return e.Most
}

// shadow returns when the head of the queue, which needs some processors, can start by the limits
// of the running jobs, and how many processors are free beside it then.
func (c *Cluster) shadow(need int32) (at int64, extra int32) {
	planned := slices.Clone(c.running)
	slices.SortFunc(planned, func(a, b *entry) int {
		switch {
		case a.planned() < b.planned():
			return -1
		case a.planned() > b.planned():
			return 1
		}
		return 0
	})
	free := c.free
	for i, e := range planned {
		if free += e.shape.Procs; free >= need && (i+1 == len(planned) || planned[i+1].planned() > e.planned()) {
			return e.planned(), free - need
		}
	}
	return never, 0
}

// admitted returns on how many processors a job behind the head can start, or 0 if it cannot.
func (c *Cluster) admitted(e *entry, shadow int64, extra int32) int32 {
	n := min(c.free, e.most())
	if n < e.least() {
		return 0
	}
	if c.now+e.At(n).Limit <= shadow {
		return n
	}
	if n = min(n, extra); n >= e.least() {
		return n
	}
	return 0
}

// start starts a job.
func (c *Cluster) start(e *entry, procs int32) {
	e.shape, e.start = e.At(procs), c.now
	c.free -= procs
	i := sort.Search(len(c.running), func(i int) bool { return c.running[i].end() > e.end() })
	c.running = slices.Insert(c.running, i, e)
	job := e.observed()
	job.Start = e.start
	c.queue.Start(job)
	for _, o := range c.observers {
		o.Started(&job)
	}
}
