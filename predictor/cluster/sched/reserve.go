package sched

import (
	"cmp"
	"math"
	"slices"
)

// Offers returns the start times nearest to at at which j could have a hard reservation for
// j.Limit seconds: the last one not after at, and the first one not before it. Both are at
// itself if that is possible. Never stands for none. The protected jobs at the head of the
// queue would start no later (Smith 2000, section 3).
func (s *Scheduler) Offers(now int64, j *Job, at int64) (before, after int64) {
	s.check(j)
	s.profile.Advance(now)
	s.prolong(now)
	s.settle(now)
	s.suppose(now)
	at = max(at, now)
	after = s.trial.EarliestFit(at, j.Limit, j.Procs)
	before, ok := s.trial.LatestFit(now, at, j.Limit, j.Procs)
	if !ok {
		before = Never
	}
	return before, after
}

// Reserve gives j a hard reservation at the offered time nearest to at, at the earlier one if
// two are equally near, and returns that time. j starts then. Running jobs must end by the
// time they are planned with, which is the limit or an estimate, unless Restart is set.
func (s *Scheduler) Reserve(now int64, j *Job, at int64) (start int64) {
	before, after := s.Offers(now, j, at)
	start = after
	if before != Never && (after == Never || max(at, now)-before <= after-max(at, now)) {
		start = before
	}
	j.state = state{phase: reserved, hard: true, at: start, joined: s.joined}
	s.joined++
	s.profile.Add(start, add(start, j.Limit), -j.Procs)
	i, _ := slices.BinarySearchFunc(s.reserved, j, byStart)
	s.reserved = slices.Insert(s.reserved, i, j)
	s.head = shadow{}
	if s.places() {
		s.replace(now, s.protected())
	}
	return start
}

func byStart(a, b *Job) int {
	return cmp.Or(cmp.Compare(a.state.at, b.state.at), cmp.Compare(a.state.joined, b.state.joined))
}

// protected returns the number of jobs at the head of the queue that a new hard reservation
// may not delay.
func (s *Scheduler) protected() int {
	const slip = 1e-9 // .07 of 100 is a little more than 7
	return int(math.Ceil(s.config.Protected*float64(s.queue.n) - slip))
}

// suppose fills the trial profile with places for the protected jobs of the queue, and without
// places for the others. Without backfilling no job is planned before one ahead of it.
// Otherwise each job gets the earliest place that is free.
func (s *Scheduler) suppose(now int64) {
	s.trial.CopyFrom(&s.profile)
	protected := s.protected()
	i, earliest := 0, now
	for j := range s.queue.all() {
		switch placed := j.state.at != Never; {
		case i < protected && !placed:
			at := s.trial.EarliestFit(earliest, j.planned(), j.Procs)
			s.trial.Add(at, add(at, j.planned()), -j.Procs)
			if s.config.Backfill == NoBackfill {
				earliest = at
			}
		case i >= protected && placed:
			s.trial.Add(j.state.at, add(j.state.at, j.planned()), j.Procs)
		}
		i++
	}
}

// begin starts the hard reservations whose time has come.
func (s *Scheduler) begin(now int64) {
	due := 0
	for due < len(s.reserved) && s.reserved[due].state.at <= now {
		j := s.reserved[due]
		if j.Procs > s.free {
			s.makeRoom(now, j)
		}
		s.start(now, j)
		due++
	}
	if due > 0 {
		s.reserved = slices.Delete(s.reserved, 0, due)
		s.head = shadow{}
	}
}
