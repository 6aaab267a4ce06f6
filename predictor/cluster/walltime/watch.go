package walltime

import (
	"math"

	"github.com/varq-project/varq/predictor/cluster/sched"
)

// milestones is the number of ages at which distributions are put to the test; the
// first is 0, for jobs that have not started.
const milestones = 8

// watchable is how many jobs are put to the test at a time; further ones are not.
const watchable = 1 << 14

// milestone returns the k-th age in seconds: 0, 45, 225, 945, 3825, 15345, 61425
// and 245745.
func milestone(k int) int64 { return 15 * (1<<(2*k) - 1) }

// between returns the last milestone that is not after age, and how far from there
// to the next, in the logarithm, age is.
func between(age int64) (k int, share float64) {
	x := math.Log2(float64(age)/15+1) / 2
	if x >= milestones-1 {
		return milestones - 1, 0
	}
	k = int(x)
	return k, x - float64(k)
}

// watch holds what was said of jobs that have not ended, to learn what it was worth.
type watch struct {
	jobs map[int64]*watched
	// next are the jobs that are on the way to each milestone, in the order in
	// which they get there.
	next [milestones][]*watched
}

// watched is a job that has been told of and has not ended.
type watched struct {
	job     sched.Job
	started bool
	ended   bool
	said    []said
}

// said is what past jobs said of a job at a milestone.
type said struct {
	milestone int
	Distribution
}

// obtain returns the watched job, which is new if need be; nil if there are too many.
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

// forget takes a job out, and returns what was said of it.
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

// Submitted tells of a job that joins the queue at its time of submission.
//
// Submitted, Started and Forget are for the sake of Distribution, which without
// them says what past jobs say, and with them what such sayings were worth. They
// and Learn want to be told all in the order of time. Jobs are known by their ID.
func (p *Predictor) Submitted(j *sched.Job) {
	p.advance(j.Submit)
	if o := p.watch.obtain(j); o != nil && !o.started && len(o.said) == 0 {
		o.said = append(o.said, said{0, p.past(j, 0)})
	}
}

// Started tells of a job that starts at its time of start.
func (p *Predictor) Started(j *sched.Job) {
	p.advance(j.Start)
	if o := p.watch.obtain(j); o != nil && !o.started {
		o.started, o.job = true, *j
		p.watch.next[1] = append(p.watch.next[1], o)
	}
}

// Forget tells of a job that will not be learnt: it was cancelled, or put back into
// the queue, whereupon it may be submitted anew.
func (p *Predictor) Forget(id int64) { p.watch.forget(id) }

// advance notes what past jobs say of those jobs that came to a milestone before now.
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

// test puts to the test what was said of a job that has ended.
func (p *Predictor) test(j *sched.Job) {
	p.advance(j.End)
	run := max(1, j.End-j.Start)
	for _, s := range p.watch.forget(j.ID) {
		p.reliabilities[s.milestone].test(&s.Distribution, run)
	}
}
