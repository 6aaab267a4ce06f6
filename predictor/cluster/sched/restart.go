package sched

import (
	"cmp"
	"fmt"
	"slices"
)

// Restart sets the cost of stopping a running job: A N Tp + B N Tf, with N its processors, Tp
// the seconds that it has run, and Tf the seconds that it is planned to run on (Smith 2000,
// section 4.2, where A - B = 1). The jobs with the lowest cost are stopped first.
type Restart struct {
	A, B float64
}

// cost returns the cost of stopping j.
func (r *Restart) cost(now int64, j *Job) float64 {
	n, run, left := float64(j.Procs), float64(now-j.Start), float64(max(0, j.state.until-now))
	return r.A*n*run + r.B*n*left
}

// makeRoom stops running jobs until the reserved job j can start.
func (s *Scheduler) makeRoom(now int64, j *Job) {
	var victims []*Job
	if s.config.Restart != nil {
		for _, v := range s.running {
			if !v.state.hard {
				victims = append(victims, v)
			}
		}
		slices.SortFunc(victims, func(a, b *Job) int {
			return cmp.Or(cmp.Compare(s.config.Restart.cost(now, a), s.config.Restart.cost(now, b)),
				cmp.Compare(a.ID, b.ID), cmp.Compare(a.state.joined, b.state.joined))
		})
	}
	for _, v := range victims {
		if s.free >= j.Procs {
			return
		}
		s.Stop(now, v)
		s.stopped = append(s.stopped, v)
	}
	if s.free < j.Procs {
		panic(fmt.Sprintf("sched: no room for the reservation of job %d", j.ID))
	}
}
