package sched

import "slices"

// settle gives every queued job its place, if the policy has places.
func (s *Scheduler) settle(now int64) {
	switch {
	case !s.places():
		return
	case s.lost, s.config.Backfill == Timeline && (s.gained || len(s.arrived) > 0):
		s.replace(now, 0)
	case s.gained:
		s.compress(now)
	}
	slices.SortFunc(s.arrived, compare)
	for _, j := range s.arrived {
		if j.state.at == Never {
			s.place(now, j)
		}
	}
	s.arrived = slices.DeleteFunc(s.arrived, func(j *Job) bool { return j.state.at != Never })
	s.gained, s.lost = false, false
}

// place gives j the earliest place that is free.
func (s *Scheduler) place(now int64, j *Job) {
	s.move(j, s.profile.EarliestFit(now, j.planned(), j.Procs))
	b := s.queue.blocks[s.queue.find(j)]
	b.at = min(b.at, j.state.at)
}

// move gives up j's place, if it has one, for another.
func (s *Scheduler) move(j *Job, at int64) {
	if j.state.at != Never {
		s.profile.Add(j.state.at, add(j.state.at, j.planned()), j.Procs)
	}
	j.state.at = at
	if at != Never {
		s.profile.Add(at, add(at, j.planned()), -j.Procs)
	}
}

// compress moves the places of queued jobs forward, one after the other in the order of the
// queue. Each moves to the earliest place that is free while all other places stay.
func (s *Scheduler) compress(now int64) {
	for _, b := range s.queue.blocks {
		moved := false
		for _, j := range b.jobs {
			if j.state.at == Never || j.state.at <= now {
				continue
			}
			if at := s.profile.EarlierFit(now, j.state.at, j.planned(), j.Procs); at < j.state.at {
				s.move(j, at)
				moved = true
			}
		}
		if moved {
			b.renote()
		}
	}
}

// replace finds new places for the jobs of the queue, except for the first from jobs.
func (s *Scheduler) replace(now int64, from int) {
	s.arrived = s.arrived[:0]
	i := 0
	for j := range s.queue.all() {
		if i >= from {
			s.move(j, Never)
		}
		i++
	}
	i = 0
	for _, b := range s.queue.blocks {
		for _, j := range b.jobs {
			if i >= from {
				s.move(j, s.profile.EarliestFit(now, j.planned(), j.Procs))
			}
			if j.state.at == Never {
				s.arrived = append(s.arrived, j)
			}
			i++
		}
		b.renote()
	}
}

// startPlaced starts the jobs whose time has come.
func (s *Scheduler) startPlaced(now int64) {
	for _, b := range s.queue.blocks {
		if b.at > now {
			continue
		}
		for _, j := range b.jobs {
			if j.state.at <= now {
				s.start(now, j)
			}
		}
		s.queue.sweep(b)
	}
	s.queue.tidy()
}
