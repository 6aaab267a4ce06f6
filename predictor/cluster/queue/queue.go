// Package queue keeps a cluster's queue: the jobs that wait, in the order in which they came,
// and the jobs that run. Events, live or from a log, change it. Forecasters read it. Times
// are Unix seconds.
package queue

import (
	"iter"

	"github.com/varq-project/varq/predictor/workload"
)

// Queue is the jobs that wait and the jobs that run. The zero Queue is empty. Submit, Start
// and Remove must not run at the same time as any other method. The other methods only read.
type Queue struct {
	jobs             map[int64]*Job
	pending, running list
	waiting          int // the sum of Count over pending
}

// Job is a job of the queue. Its End is 0 and its State Pending or Running.
type Job struct {
	workload.Job
	in         *list
	prev, next *Job
}

// Submit adds a job that waits. It replaces a job of the same ID. A replaced job that waited
// leaves its place to the new one.
func (q *Queue) Submit(j workload.Job) *Job {
	old := q.jobs[j.ID]
	if old != nil && old.in == &q.pending {
		j.State = workload.Pending
		q.waiting += j.Count() - old.Count()
		old.Job = j
		return old
	}
	q.Remove(j.ID)
	j.Start, j.End, j.State = 0, 0, workload.Pending
	q.waiting += j.Count()
	return q.add(&q.pending, j)
}

// Change changes how many tasks of an array wait, what the job of this ID requests, whether a limit
// keeps it from starting, and its priority, if it waits. If it runs, Change changes its time limit,
// and how many processors it has if they are more. Either way it changes the nodes.
func (q *Queue) Change(to *workload.Job) {
	j := q.jobs[to.ID]
	if j == nil {
		return
	}
	j.On = to.On
	if j.in == &q.running {
		j.Limit, j.Given = to.Limit, max(j.Given, to.Given)
	} else {
		q.waiting += to.Count() - j.Count()
		j.Tasks, j.Request, j.AtLimit, j.QOSFull, j.Priority = to.Tasks, to.Request, to.AtLimit, to.QOSFull, to.Priority
	}
}

// Start adds a job that has run since j.Start. It replaces a job of the same ID, if the queue
// has one.
func (q *Queue) Start(j workload.Job) *Job {
	q.Remove(j.ID)
	j.End, j.State = 0, workload.Running
	return q.add(&q.running, j)
}

func (q *Queue) add(l *list, j workload.Job) *Job {
	if q.jobs == nil {
		q.jobs = make(map[int64]*Job)
	}
	job := &Job{Job: j}
	q.jobs[j.ID] = job
	l.push(job)
	return job
}

// Remove removes a job and returns it, or nil if it was not in the queue.
func (q *Queue) Remove(id int64) *Job {
	j := q.jobs[id]
	if j != nil {
		if j.in == &q.pending {
			q.waiting -= j.Count()
		}
		j.in.remove(j)
		delete(q.jobs, id)
	}
	return j
}

// Job returns the job of an ID, or nil if it neither waits nor runs.
func (q *Queue) Job(id int64) *Job { return q.jobs[id] }

// Pending yields the jobs that wait, in the order in which they came.
func (q *Queue) Pending() iter.Seq[*Job] { return q.pending.all() }

// Running yields the jobs that run, in the order in which Start added them.
func (q *Queue) Running() iter.Seq[*Job] { return q.running.all() }

// Moves returns how many jobs have been added to those that Running yields, and removed from them,
// since q was empty.
func (q *Queue) Moves() int { return q.running.moves }

// Len returns how many jobs Pending yields and how many Running does.
func (q *Queue) Len() (pending, running int) { return q.pending.n, q.running.n }

// Count returns how many jobs wait and how many run. Each task of an array counts.
func (q *Queue) Count() (waiting, running int) { return q.waiting, q.running.n }

// list is a doubly linked list.
type list struct {
	first, last *Job
	n           int
	moves       int // pushes and removals
}

func (l *list) push(j *Job) {
	j.in, j.prev, j.next = l, l.last, nil
	if l.last == nil {
		l.first = j
	} else {
		l.last.next = j
	}
	l.last = j
	l.n++
	l.moves++
}

func (l *list) remove(j *Job) {
	if j.prev == nil {
		l.first = j.next
	} else {
		j.prev.next = j.next
	}
	if j.next == nil {
		l.last = j.prev
	} else {
		j.next.prev = j.prev
	}
	l.n--
	l.moves++
}

func (l *list) all() iter.Seq[*Job] {
	return func(yield func(*Job) bool) {
		for j := l.first; j != nil; j = j.next {
			if !yield(j) {
				return
			}
		}
	}
}
