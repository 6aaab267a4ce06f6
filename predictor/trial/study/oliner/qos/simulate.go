package qos

import (
	"fmt"
	"slices"
)

// job is a job that was submitted.
type job struct {
	Job
	deadline int64
	promised float64 // p_j
	nodes    Set     // its partition
	from, to int64   // for which its nodes are reserved
	saved    int64   // seconds of work that a failure does not destroy
	// plan counts the plans made for the job. Events of an earlier plan do not happen.
	plan     int
	setbacks int // how often it was interrupted or put off

	// While it runs:
	began     int64 // last start
	safe      int64 // when the last complete checkpoint, or without one this run, began
	stopped   int64 // when the checkpoint began that is being performed
	done      int64 // seconds of work, at the last request
	intervals int   // since the last checkpoint performed
}

// simulator is a cluster in the course of time.
type simulator struct {
	Config
	now      int64
	events   events
	timeline *timeline
	waiting  []*job // by from, those with equal ones in the order of submission
	running  []*job // by node; nil if none
	down     []int64
	finished int
	result   Result
	last     int64 // end of a job

	free, chosen Set // nodes, while a job is placed
	candidates   []candidate

	// observe is called after each event, if not nil.
	observe func(*simulator, event)
}

// Run simulates the jobs, which must be in the order of their submission, until all are complete.
// It panics if a job has more nodes than the cluster, or is out of order.
func (c Config) Run(jobs []Job) Result { return c.run(jobs, nil) }

func (c Config) run(jobs []Job, observe func(*simulator, event)) Result {
	if len(jobs) == 0 {
		return Result{}
	}
	s := &simulator{
		Config: c, now: jobs[0].Submit, timeline: newTimeline(jobs[0].Submit, c.Nodes),
		running: make([]*job, c.Nodes), down: make([]int64, c.Nodes), free: newSet(c.Nodes), chosen: newSet(c.Nodes), observe: observe,
	}
	s.expectFailure(s.now)
	for i := range jobs {
		if jobs[i].Nodes > c.Nodes || i > 0 && jobs[i].Submit < jobs[i-1].Submit {
			panic(fmt.Sprintf("qos: %+v of %d nodes after %+v", jobs[i], c.Nodes, jobs[max(0, i-1)]))
		}
		s.until(jobs[i].Submit, arrival)
		s.now = jobs[i].Submit
		s.happen(event{at: s.now, kind: arrival, job: &job{Job: jobs[i]}})
	}
	for s.finished < len(jobs) {
		s.happen(s.events.pop())
	}
	return s.measured(jobs)
}

// until lets all events happen before the time at, and those at that time whose kind comes before
// kind.
func (s *simulator) until(at int64, kind kind) {
	limit := event{at: at, kind: kind}
	for len(s.events.heap) > 0 && s.events.heap[0].before(&limit) {
		s.happen(s.events.pop())
	}
}

// happen lets one event happen.
func (s *simulator) happen(e event) {
	if e.job != nil && e.plan != e.job.plan {
		return
	}
	s.now = e.at
	s.timeline.advance(s.now)
	switch e.kind {
	case arrival:
		s.arrive(e.job)
	case start:
		s.start(e.job)
	case request:
		s.request(e.job)
	case checkpointed:
		e.job.saved, e.job.safe, e.job.intervals = e.job.done, e.job.stopped, 0
		s.work(e.job)
	case end:
		s.end(e.job)
	case failure:
		s.fail(e.node)
		s.expectFailure(s.now + 1)
	}
	if s.observe != nil {
		s.observe(s, e)
	}
}

// expect announces an event of a job's present plan.
func (s *simulator) expect(at int64, kind kind, j *job) {
	s.events.push(event{at: at, kind: kind, job: j, plan: j.plan})
}

// expectFailure announces the failures at the first moment, at from or later, at which there are
// any.
func (s *simulator) expectFailure(from int64) {
	if s.events.failures > 0 {
		return
	}
	i, later, ok := s.Failures.from(from)
	if !ok {
		return
	}
	all := s.Failures.failures
	for at := all[i].At; i < len(all) && all[i].At == at; i++ {
		s.events.push(event{at: at + later, kind: failure, node: all[i].Node})
	}
}

// arrive agrees with a job's user on a deadline.
func (s *simulator) arrive(j *job) {
	fails := s.place(j, s.Risk)
	if 1-fails < s.Risk {
		s.result.Risky++
	}
	j.promised, j.deadline = 1-fails, j.to
	s.result.Promised += float64(j.Work) * float64(j.Nodes) * j.promised
}

// forget removes j from the jobs that wait.
func (s *simulator) forget(j *job) {
	i := slices.Index(s.waiting, j)
	s.waiting = slices.Delete(s.waiting, i, i+1)
}

func (s *simulator) start(j *job) {
	s.forget(j)
	for node := range j.nodes.Nodes() {
		s.running[node] = j
	}
	j.began, j.safe, j.done, j.intervals = s.now, s.now, j.saved, 0
	s.work(j)
}

// work lets j work until its next request for a checkpoint, or its end.
func (s *simulator) work(j *job) {
	if left := j.Work - j.done; left <= s.Interval {
		s.expect(s.now+left, end, j)
	} else {
		s.expect(s.now+s.Interval, request, j)
	}
}

// request performs the checkpoint that j requests, or does not.
func (s *simulator) request(j *job) {
	j.done += s.Interval
	j.intervals++
	left := j.Work - j.done
	next := s.now + s.Overhead + left // the end, or when the next checkpoint would be complete
	if left > s.Interval {
		next = s.now + s.Overhead + s.Interval + s.Overhead
	}
	s.result.Requested++
	if !s.Checkpoint(Request{
		Now: s.now, Fails: s.Predictor.Nodes(s.now, j.nodes, s.now, next), Nodes: j.Nodes,
		Intervals: j.intervals, Interval: s.Interval, Overhead: s.Overhead, Remaining: left, Deadline: j.deadline,
	}) {
		s.work(j)
		return
	}
	s.result.Performed++
	j.stopped = s.now
	s.expect(s.now+s.Overhead, checkpointed, j)
}

// leave frees j's nodes from now on.
func (s *simulator) leave(j *job) {
	j.plan++
	for node := range j.nodes.Nodes() {
		s.running[node] = nil
	}
	s.timeline.give(j.nodes, s.now, j.to)
	s.result.Occupied += float64(s.now-j.began) * float64(j.Nodes)
}

func (s *simulator) end(j *job) {
	s.leave(j)
	s.finished++
	s.last = s.now
	work := float64(j.Work) * float64(j.Nodes)
	s.result.Work += work
	s.result.Turnaround += float64(s.now - j.Submit)
	if s.now <= j.deadline {
		s.result.QoS += work * j.promised
	} else {
		s.result.Missed++
	}
}

// patient counts a setback of j. It reports false, and abandons the job, if there were too many.
func (s *simulator) patient(j *job) bool {
	if j.setbacks++; j.setbacks <= s.Patience {
		return true
	}
	j.plan++
	s.finished++
	s.result.Missed++
	s.result.Abandoned++
	return false
}

// fail takes a node down, interrupts the job that runs there, and puts off those to come.
func (s *simulator) fail(node int) {
	j := s.running[node]
	if j != nil {
		s.leave(j)
		s.result.Interrupted++
		s.result.Lost += float64(s.now-j.safe) * float64(j.Nodes)
	}
	up := s.now + s.Downtime
	s.putOff(node, up)
	only := newSet(s.Nodes)
	only.add(node)
	s.timeline.take(only, max(s.now, s.down[node]), up)
	s.down[node] = up
	if j != nil && s.patient(j) {
		s.place(j, 0)
	}
}

// putOff moves the jobs that were to start on the node before a time: they start then, on the nodes
// they have, and so do after them the jobs in whose way they now are.
func (s *simulator) putOff(node int, up int64) {
	type obstacle struct {
		nodes Set
		until int64
	}
	only := newSet(s.Nodes)
	only.add(node)
	obstacles := []obstacle{{only, up}}
	var moved []*job
	last := up
	for _, j := range s.waiting {
		if j.from >= last {
			break
		}
		from := j.from
		for _, o := range obstacles {
			if o.until > from && o.nodes.meets(j.nodes) {
				from = o.until
			}
		}
		if from == j.from {
			continue
		}
		s.timeline.give(j.nodes, j.from, j.to)
		j.from, j.to = from, from+j.to-j.from
		moved = append(moved, j)
		obstacles = append(obstacles, obstacle{j.nodes, j.to})
		last = max(last, j.to)
	}
	for _, j := range moved {
		if !s.patient(j) {
			s.forget(j)
			continue
		}
		s.timeline.take(j.nodes, j.from, j.to)
		j.plan++
		s.expect(j.from, start, j)
	}
	if moved != nil {
		slices.SortStableFunc(s.waiting, byStart)
	}
}

func (s *simulator) measured(jobs []Job) Result {
	r := s.result
	r.Jobs = len(jobs)
	all := 0.
	for _, j := range jobs {
		all += float64(j.Work) * float64(j.Nodes)
	}
	r.QoS /= all
	r.Promised /= all
	if complete := r.Jobs - r.Abandoned; complete > 0 {
		r.Utilisation = r.Work / (float64(s.last-jobs[0].Submit) * float64(s.Nodes))
		r.Turnaround /= float64(complete)
	}
	return r
}
