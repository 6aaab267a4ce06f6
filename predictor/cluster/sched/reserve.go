package sched

import (
	"cmp"
	"math"
	"slices"
)

// Offers returns the start times nearest to at, one not after and one not before
// it, at which j could have a hard reservation for j.Limit seconds: at itself if
// it can be had, and Never where there is none. The jobs at the head of the queue
// that are protected would start no later (Smith 2000, section 3).
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

// Reserve gives j a hard reservation at the offered time nearest to at, of two
// the earlier, and returns it: j starts then. Jobs that are running or reserved
// already are planned with their limits, unless they have an estimate, and what
// they are planned with must hold; or else Restart must be set.
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

// protected returns how many jobs from the head of the queue on a new hard
// reservation may not delay.
func (s *Scheduler) protected() int {
	const slip = 1e-9 // .07 of 100 is a little more than 7
	return int(math.Ceil(s.config.Protected*float64(s.queue.n) - slip))
}

// suppose plans the protected part of the queue in the trial profile, and leaves
// the rest out of it. Without backfilling no job is planned before one ahead of
// it; else each gets the earliest place there is.
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
