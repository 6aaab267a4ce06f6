// Package sim runs a scheduler through time, event by event. Who uses it brings
// the jobs in the order of their submission and watches what becomes of them;
// one run is as long as that takes, holds no more than the jobs that are in the
// system, and is the same every time.
package sim

import "github.com/varq-project/varq/predictor/sched"

// Observer is told what happens, at the moment it happens. It must not call the
// Simulator, but may submit.
type Observer interface {
	// Reserved: a hard reservation was granted for the time start, after at had
	// been asked for.
	Reserved(now int64, j *sched.Job, at, start int64)
	// Started: j starts. The observer may still change j.Run.
	Started(now int64, j *sched.Job)
	// Stopped: j, started at j.Start, was stopped for a hard reservation and is
	// back in the queue.
	Stopped(now int64, j *sched.Job)
	// Ended: j, started at j.Start, has ended. From now on it is its owner's.
	Ended(now int64, j *sched.Job)
}

// Simulator is a cluster in the course of time.
type Simulator struct{}

// New returns an idle cluster at time 0.
func New(c sched.Config, o Observer) *Simulator { panic("not yet") }

// Now returns the present: all before it has happened.
func (s *Simulator) Now() int64 { panic("not yet") }

// Submit lets j join the queue at j.Submit, which must not lie before Now.
// Jobs submitted for the same moment join in the order of the calls.
func (s *Simulator) Submit(j *sched.Job) { panic("not yet") }

// Reserve lets j ask for a hard reservation at time `at` when it is submitted,
// at j.Submit, which must not lie before Now. It is given the time nearest to
// `at` that can be had.
func (s *Simulator) Reserve(j *sched.Job, at int64) { panic("not yet") }

// Shorten sets the limit of a running job to a smaller one.
func (s *Simulator) Shorten(j *sched.Job, limit int64) { panic("not yet") }

// Advance lets everything happen that happens before time `to`, which becomes
// the present: what happens at `to` itself has not happened yet.
func (s *Simulator) Advance(to int64) { panic("not yet") }

// Drain lets everything happen until no job is left.
func (s *Simulator) Drain() { panic("not yet") }
