// Package sim runs a scheduler through time, event by event. Who uses it brings
// the jobs in the order of their submission and watches what becomes of them;
// one run is as long as that takes, holds no more than the jobs that are in the
// system, and is the same every time.
package sim

import (
	"fmt"

	"github.com/varq-project/varq/predictor/cluster/sched"
)

// Observer is told what happens, at the moment it happens. Of the Simulator, it
// may use Submit, Reserve, Call and Halt.
type Observer interface {
	// Reserved: a hard reservation was granted for the time start, after at had
	// been asked for.
	Reserved(now int64, j *sched.Job, at, start int64)
	// Started: j starts. The observer may still change j.Run.
	Started(now int64, j *sched.Job)
	// Stopped: j was stopped for a hard reservation and is back in the queue; j.Lost
	// counts what it had run. It may have started again by now, of which Started
	// tells next: j.Start is the new one then.
	Stopped(now int64, j *sched.Job)
	// Ended: j, started at j.Start, has ended at j.End. From now on it is its
	// owner's.
	Ended(now int64, j *sched.Job)
}

// Simulator is a cluster in the course of time: a sched.Scheduler, and what will
// happen to it. Jobs run for Run seconds, but are killed at their Limit.
//
// Of one moment, first jobs end, then calls are made, then jobs and reservations
// come, and then the scheduler starts what it can. An event costs O(log n) with n
// events to come, and what it costs the Scheduler.
type Simulator struct {
	scheduler *sched.Scheduler
	observer  Observer
	now       int64
	events    events
	seq       uint64
	halted    bool
}

// New returns an idle cluster at time 0. Like sched.New, it panics if the Config
// makes no sense.
func New(c sched.Config, o Observer) *Simulator {
	return &Simulator{scheduler: sched.New(c), observer: o}
}

// Reset makes the cluster idle again, at time now, with nothing to come.
func (s *Simulator) Reset(now int64) {
	s.scheduler.Reset(now)
	s.now, s.halted, s.seq = now, false, 0
	clear(s.events)
	s.events = s.events[:0]
}

// Scheduler returns the scheduler, to be asked about its state. A Call may also
// tell it to Withdraw a job or to Reorder the queue.
func (s *Simulator) Scheduler() *sched.Scheduler { return s.scheduler }

// Now returns the present: all before it has happened.
func (s *Simulator) Now() int64 { return s.now }

// Submit lets j join the queue at j.Submit or, if that has passed, now. Jobs for
// the same moment join in the order of the calls.
func (s *Simulator) Submit(j *sched.Job) { s.announce(event{at: j.Submit, kind: submission, job: j}) }

// Reserve lets j ask for a hard reservation at time at, as soon as it is
// submitted. It gets the time nearest to it that can be had.
func (s *Simulator) Reserve(j *sched.Job, at int64) {
	s.announce(event{at: j.Submit, kind: reservation, job: j, asked: at})
}

// Call calls do at a time to come, or now. It may use all of the Simulator but
// Advance, Drain and Reset: nodes fail and recover, checkpoints begin and end, by
// calls.
func (s *Simulator) Call(at int64, do func(now int64)) {
	s.announce(event{at: at, kind: call, do: do})
}

// Place lets j run since j.Start, now or before: it ran when the run starts, or
// stands for processors that are down. It panics if there is no room.
func (s *Simulator) Place(j *sched.Job) {
	s.scheduler.Place(s.now, j)
	s.announceEnd(j)
}

// Stop stops the running job j, which goes back to its place in the queue, to
// start anew.
func (s *Simulator) Stop(j *sched.Job) {
	s.events.removeEnd(j)
	s.scheduler.Stop(s.now, j)
}

// Prolong lets the running job j run for a number of seconds more than it would
// have. Its limit stays.
func (s *Simulator) Prolong(j *sched.Job, seconds int64) {
	s.events.removeEnd(j)
	j.Run = min(j.Run, sched.Never-seconds) + seconds
	s.announceEnd(j)
}

// Shorten gives the job j, which runs or waits, a smaller limit.
func (s *Simulator) Shorten(j *sched.Job, limit int64) {
	running := s.events.removeEnd(j)
	s.scheduler.Shorten(s.now, j, limit)
	if running {
		s.announceEnd(j)
	}
}

// Halt lets Advance or Drain return after the present moment.
func (s *Simulator) Halt() { s.halted = true }

// Advance lets everything happen that happens before the time to, which becomes
// the present; what happens at that time has not happened yet. It panics if to
// has passed. After Halt the present is the moment that was halted at.
func (s *Simulator) Advance(to int64) {
	if to < s.now {
		panic(fmt.Sprintf("sim: from %d back to %d", s.now, to))
	}
	if s.drain(to) {
		s.now = to
	}
}

// Drain lets everything happen until nothing is to come.
func (s *Simulator) Drain() { s.drain(sched.Never) }

// drain reports whether it went on to the end.
func (s *Simulator) drain(to int64) bool {
	for s.halted = false; !s.halted; s.moment() {
		next := s.scheduler.Wake()
		if len(s.events) > 0 {
			next = min(next, s.events[0].at)
		}
		if next >= to {
			return true
		}
		s.now = max(s.now, next)
	}
	return false
}

// moment lets everything happen that happens now.
func (s *Simulator) moment() {
	for len(s.events) > 0 && s.events[0].at <= s.now {
		s.happen(s.events.pop())
	}
	started, stopped := s.scheduler.Pass(s.now)
	for _, j := range stopped {
		s.events.removeEnd(j)
		s.observer.Stopped(s.now, j)
	}
	for _, j := range started {
		s.observer.Started(s.now, j)
		s.announceEnd(j)
	}
}

func (s *Simulator) happen(e event) {
	switch e.kind {
	case end:
		s.scheduler.Finish(s.now, e.job)
		s.observer.Ended(s.now, e.job)
	case call:
		e.do(s.now)
	case submission:
		s.scheduler.Submit(s.now, e.job)
	case reservation:
		start := s.scheduler.Reserve(s.now, e.job, e.asked)
		s.observer.Reserved(s.now, e.job, e.asked, start)
	}
}

func (s *Simulator) announceEnd(j *sched.Job) {
	run := max(0, min(j.Run, j.Limit))
	s.announce(event{at: min(j.Start, sched.Never-run) + run, kind: end, job: j})
}

func (s *Simulator) announce(e event) {
	e.at = max(e.at, s.now)
	e.seq = s.seq
	s.seq++
	s.events.push(e)
}
