package sim

import (
	"slices"
	"testing"

	"github.com/varq-project/varq/predictor/cluster/sched"
)

// scripted is an Observer that records when jobs start and end, and calls a function at each
// start.
type scripted struct {
	starts, ends []int64
	started      func(now int64, j *sched.Job)
}

func (s *scripted) Reserved(int64, *sched.Job, int64, int64) {}
func (s *scripted) Stopped(int64, *sched.Job)                {}
func (s *scripted) Ended(now int64, _ *sched.Job)            { s.ends = append(s.ends, now) }
func (s *scripted) Started(now int64, j *sched.Job) {
	s.starts = append(s.starts, now)
	if s.started != nil {
		s.started(now, j)
	}
}

func TestAdvanceStopsBeforeAMoment(t *testing.T) {
	var o scripted
	s := New(sched.Config{Procs: 1}, &o)
	s.Submit(&sched.Job{Submit: 10, Procs: 1, Limit: 5, Run: 5})
	s.Advance(10)
	if s.Now() != 10 || len(o.starts) > 0 {
		t.Errorf("at %d, before what happens then: starts at %v", s.Now(), o.starts)
	}
	s.Advance(15)
	if s.Now() != 15 || !slices.Equal(o.starts, []int64{10}) || len(o.ends) > 0 {
		t.Errorf("at %d: starts at %v, ends at %v", s.Now(), o.starts, o.ends)
	}
	s.Drain()
	if s.Now() != 15 || !slices.Equal(o.ends, []int64{15}) {
		t.Errorf("drained at %d: ends at %v", s.Now(), o.ends)
	}
	defer func() {
		if recover() == nil {
			t.Error("went back in time")
		}
	}()
	s.Advance(14)
}

func TestHaltEndsTheMoment(t *testing.T) {
	var o scripted
	s := New(sched.Config{Procs: 2}, &o)
	o.started = func(now int64, _ *sched.Job) {
		if now == 10 {
			s.Halt()
		}
	}
	for _, at := range []int64{0, 10, 10, 20} {
		s.Submit(&sched.Job{Submit: at, Procs: 1, Limit: 5, Run: 5})
	}
	s.Advance(100)
	if s.Now() != 10 || !slices.Equal(o.starts, []int64{0, 10, 10}) {
		t.Errorf("halted at %d: starts at %v", s.Now(), o.starts)
	}
	s.Advance(100)
	if s.Now() != 100 || !slices.Equal(o.starts, []int64{0, 10, 10, 20}) || len(o.ends) != 4 {
		t.Errorf("at %d: starts at %v, ends at %v", s.Now(), o.starts, o.ends)
	}
}

// TestObserversAnnounce: an event that an observer announces for now, or for the past,
// happens at the same moment.
func TestObserversAnnounce(t *testing.T) {
	var o scripted
	s := New(sched.Config{Procs: 4}, &o)
	o.started = func(_ int64, j *sched.Job) {
		if j.ID < 3 {
			s.Submit(&sched.Job{ID: j.ID + 1, Procs: 1, Limit: 5, Run: 5})
		}
		j.Run = 7 - j.ID // known only now
	}
	s.Submit(&sched.Job{ID: 0, Submit: 10, Procs: 1, Limit: 5, Run: 1})
	s.Drain()
	if !slices.Equal(o.starts, []int64{10, 10, 10, 10}) || !slices.Equal(o.ends, []int64{14, 15, 15, 15}) {
		t.Errorf("starts at %v, ends at %v", o.starts, o.ends)
	}
}

func TestBadJobsPanic(t *testing.T) {
	for _, j := range []sched.Job{{Procs: 0, Limit: 1}, {Procs: 5, Limit: 1}, {Procs: 1, Limit: 0}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%+v is accepted", j)
				}
			}()
			s := New(sched.Config{Procs: 4}, &scripted{})
			s.Submit(&j)
			s.Drain()
		}()
	}
}
