// Package sim runs a scheduler through time, event by event. Its user submits the jobs and
// observes their starts and ends. A Simulator keeps only events to come and jobs that have not
// ended. The same jobs give the same run every time.
package sim

import (
	"fmt"

	"github.com/varq-project/varq/predictor/cluster/sched"
)

// Observer observes each event when it happens. An Observer may call the Simulator's methods
// Submit, Reserve, Call and Halt, but no others that change it.
type Observer interface {
	// Reserved: a hard reservation was granted for the time start. The time asked for was
	// at.
	Reserved(now int64, j *sched.Job, at, start int64)
	// Started: j starts. The observer may still change j.Run.
	Started(now int64, j *sched.Job)
	// Stopped: j was stopped for a hard reservation and is back in the queue. j.Lost
	// includes the seconds that it had run. If j has started again at the same time, j.Start
	// is already the new start, and a call of Started follows.
	Stopped(now int64, j *sched.Job)
	// Ended: j, started at j.Start, has ended at j.End. The Simulator uses j no more.
	Ended(now int64, j *sched.Job)
}

// Simulator is a cluster in the course of time: a sched.Scheduler and the events to come. A
// job runs for Run seconds, but is killed at its Limit.
//
// At one moment, jobs end first. Then calls are made, then jobs and reservations come, and
// then the Scheduler starts jobs. With n events to come, an event costs O(log n) and its cost
// in the Scheduler.
type Simulator struct {
	scheduler *sched.Scheduler
	observer  Observer
	now       int64
	events    events
	seq       uint64
	halted    bool
}

// New returns an idle cluster at time 0. Like sched.New, it panics if the Config is not valid.
func New(c sched.Config, o Observer) *Simulator {
	return &Simulator{scheduler: sched.New(c), observer: o}
}

// Reset makes the cluster idle again, at time now, without events to come.
func (s *Simulator) Reset(now int64) {
	s.scheduler.Reset(now)
	s.now, s.halted, s.seq = now, false, 0
	clear(s.events)
	s.events = s.events[:0]
}

// Scheduler returns the scheduler, whose state may be read. A function given to Call may also
// call its methods Withdraw, Reorder, Offers and Reserve.
func (s *Simulator) Scheduler() *sched.Scheduler { return s.scheduler }

// Now returns the present. All earlier events have happened.
func (s *Simulator) Now() int64 { return s.now }

// Submit makes j join the queue at j.Submit or, if that has passed, now. Jobs for the same
// moment join in the order of the calls.
func (s *Simulator) Submit(j *sched.Job) { s.announce(event{at: j.Submit, kind: submission, job: j}) }

// Reserve makes j ask at j.Submit for a hard reservation at the time at. The Scheduler grants
// the nearest time that is possible.
func (s *Simulator) Reserve(j *sched.Job, at int64) {
	s.announce(event{at: j.Submit, kind: reservation, job: j, asked: at})
}

// Call makes the Simulator call do at a time or, if that has passed, now. Do may call all
// methods of the Simulator but Advance, Drain and Reset. Calls serve to let nodes fail and
// recover, or checkpoints begin and end.
func (s *Simulator) Call(at int64, do func(now int64)) {
	s.announce(event{at: at, kind: call, do: do})
}

// Place makes j a running job that started at j.Start, which is now or earlier. Such a job ran
// when the simulation began, or stands for processors that are down. Place panics if there is
// no room.
func (s *Simulator) Place(j *sched.Job) {
	s.scheduler.Place(s.now, j)
	s.announceEnd(j)
}

// Stop stops the running job j, and puts it back into its place in the queue. It will start
// from the beginning.
func (s *Simulator) Stop(j *sched.Job) {
	s.events.removeEnd(j)
	s.scheduler.Stop(s.now, j)
}

// Prolong adds a number of seconds to the run time of the running job j. Its limit stays.
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

// Halt makes Advance or Drain return after the present moment.
func (s *Simulator) Halt() { s.halted = true }

// Advance simulates all events before the time to, which becomes the present. Events at that
// time have not happened yet. Advance panics if to has passed. After Halt the present is the
// moment of the Halt.
func (s *Simulator) Advance(to int64) {
	if to < s.now {
		panic(fmt.Sprintf("sim: from %d back to %d", s.now, to))
	}
	if s.drain(to) {
		s.now = to
	}
}

// Drain simulates until there are no events to come.
func (s *Simulator) Drain() { s.drain(sched.Never) }

// drain simulates all events before the time to. It reports false after a Halt.
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

// moment simulates all that happens now.
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
