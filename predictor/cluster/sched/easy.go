package sched

import "slices"

// shadow is the latest time at which the head of the queue starts, and the processors that are
// free beside it then. If head is nil the shadow is not known.
type shadow struct {
	head  *Job
	at    int64
	extra int32 // processors
}

// easy starts jobs by EASY backfilling.
//
// A job that could not start at the last Pass cannot start now, unless since then a job has
// ended, a hard reservation has come, or the head has changed. Each of these makes the shadow
// unknown. So while the shadow is known, easy looks only at new jobs.
func (s *Scheduler) easy(now int64) {
	known := s.head.head != nil && s.head.head == s.queue.first()
	if !known {
		s.startHeads(now)
		if !s.castShadow(now) {
			return
		}
	}
	s.keepShadow(-1)
	if known {
		slices.SortFunc(s.arrived, compare)
		for _, j := range s.arrived {
			if s.admits(now, j) {
				s.queue.remove(j)
				s.backfill(now, j)
			}
		}
	} else {
		s.backfillAll(now)
	}
	s.keepShadow(+1)
}

// castShadow finds the head's shadow. It reports false, and leaves the shadow unknown, if no
// job of the queue is small enough to start.
func (s *Scheduler) castShadow(now int64) bool {
	s.head = shadow{}
	if !slices.ContainsFunc(s.queue.blocks, func(b *block) bool { return b.procs <= s.free }) {
		return false
	}
	head := s.queue.first()
	at := s.profile.EarliestFit(now, head.planned(), head.Procs)
	s.head = shadow{head, at, s.profile.At(at) - head.Procs}
	return true
}

// keepShadow takes the head's processors from the profile (sign -1), or gives them back (sign
// 1). Without hard reservations it does nothing, because the shadow is enough.
func (s *Scheduler) keepShadow(sign int32) {
	if len(s.reserved) > 0 {
		s.profile.Add(s.head.at, add(s.head.at, s.head.head.planned()), sign*s.head.head.Procs)
	}
}

// admits reports whether j can start now without delaying the head or a hard reservation.
// Without hard reservations the number of free processors never falls, so only the moment at
// which the head starts counts.
func (s *Scheduler) admits(now int64, j *Job) bool {
	if j.Procs > s.free || j == s.head.head {
		return false
	}
	end := add(now, j.planned())
	if len(s.reserved) > 0 {
		return s.profile.Fits(now, end, j.Procs)
	}
	return j.Procs <= s.head.extra || end <= s.head.at
}

// backfill starts j, which the head's shadow admits.
func (s *Scheduler) backfill(now int64, j *Job) {
	if add(now, j.planned()) > s.head.at {
		s.head.extra -= j.Procs
	}
	s.start(now, j)
}

// backfillAll starts all jobs of the queue that the head's shadow admits.
func (s *Scheduler) backfillAll(now int64) {
	for _, b := range s.queue.blocks {
		if b.procs > s.free || b.procs > s.head.extra && add(now, b.span) > s.head.at && len(s.reserved) == 0 {
			continue
		}
		before := len(s.started)
		for _, j := range b.jobs {
			if s.admits(now, j) {
				s.backfill(now, j)
			}
		}
		if len(s.started) > before {
			s.queue.sweep(b)
		}
	}
	s.queue.tidy()
}
