package walltime

import (
	"math"

	"github.com/varq-project/varq/predictor/cluster/sched"
)

// milestones is the number of ages at which distributions are tested. The first is 0, for jobs
// that have not started.
const milestones = 8

// watchable is the most jobs that are watched at a time. Further jobs are not tested.
const watchable = 1 << 14

// milestone returns the k-th age in seconds: 0, 45, 225, 945, 3825, 15345, 61425
// and 245745.
func milestone(k int) int64 { return 15 * (1<<(2*k) - 1) }

// between returns the last milestone at age or earlier. Share is how far age is on the way from
// there to the next milestone, in logarithms.
func between(age int64) (k int, share float64) {
	x := math.Log2(float64(age)/15+1) / 2
	if x >= milestones-1 {
		return milestones - 1, 0
	}
	k = int(x)
	return k, x - float64(k)
}

// watch holds the distributions of jobs that have not ended, to compare them with the run times
// that follow.
type watch struct {
	jobs map[int64]*watched
	// next is, for each milestone, the jobs that reach it next, in the order in which they
	// do.
	next [milestones][]*watched
}

// watched is a job that was submitted or started, and has not ended.
type watched struct {
	job     sched.Job
	started bool
	ended   bool
	said    []said
}

// said is the distribution of a job at a milestone, before recalibration.
type said struct {
	milestone int
	Distribution
}

// obtain returns the watched job of j's ID. It watches j if there is none, and returns nil if
// too many jobs are watched.
func (w *watch) obtain(j *sched.Job) *watched {
	o, ok := w.jobs[j.ID]
	switch {
	case ok:
		return o
	case len(w.jobs) == watchable:
		return nil
	case w.jobs == nil:
		w.jobs = make(map[int64]*watched)
	}
	o = &watched{job: *j}
	w.jobs[j.ID] = o
	return o
}

// forget ends the watch of a job, and returns its distributions.
func (w *watch) forget(id int64) []said {
	o, ok := w.jobs[id]
	if !ok {
		return nil
	}
	all := o.said
	o.ended, o.said = true, nil
	delete(w.jobs, id)
	return all
}

// Submitted notes that a job has joined the queue at j.Submit.
//
// Submitted, Started and Forget serve to recalibrate Distribution. They and Learn are called
// for all jobs, in the order of time. The ID identifies a job.
func (p *Predictor) Submitted(j *sched.Job) {
	p.advance(j.Submit)
	if o := p.watch.obtain(j); o != nil && !o.started && len(o.said) == 0 {
		o.said = append(o.said, said{0, p.past(j, 0)})
	}
}

// Started notes that a job has started at j.Start.
func (p *Predictor) Started(j *sched.Job) {
	p.advance(j.Start)
	if o := p.watch.obtain(j); o != nil && !o.started {
		o.started, o.job = true, *j
		p.watch.next[1] = append(p.watch.next[1], o)
	}
}

// Forget notes that a job will not be learnt: it was cancelled, or put back into the queue. It
// may be submitted again.
func (p *Predictor) Forget(id int64) { p.watch.forget(id) }

// advance makes the distributions of the watched jobs that have reached a milestone before now.
func (p *Predictor) advance(now int64) {
	for k := 1; k < milestones; k++ {
		age, queue := milestone(k), p.watch.next[k]
		for len(queue) > 0 && queue[0].job.Start+age < now {
			o := queue[0]
			queue[0] = nil
			queue = queue[1:]
			if o.ended {
				continue
			}
			o.said = append(o.said, said{k, p.past(&o.job, age)})
			if k+1 < milestones {
				p.watch.next[k+1] = append(p.watch.next[k+1], o)
			}
		}
		p.watch.next[k] = queue
	}
}

// test compares the distributions of a job that has ended with its run time.
func (p *Predictor) test(j *sched.Job) {
	p.advance(j.End)
	run := max(1, j.End-j.Start)
	for _, s := range p.watch.forget(j.ID) {
		p.reliabilities[s.milestone].test(&s.Distribution, run)
	}
}
