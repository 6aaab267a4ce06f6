package scenario

// maxSteps is the largest number of steps that a series has.
const maxSteps = 512

// series integrates the numbers of queued jobs and of busy processors over steps of time.
// Whenever there would be more than maxSteps steps, the length of a step doubles.
type series struct {
	start, step  int64
	at           int64     // the end of the last integrated period
	queued, busy []float64 // integrals over each step
}

func newSeries(start int64) *series { return &series{start: start, step: 60, at: start} }

// add integrates queued and busy from the time of the last call to now. Both must have
// been constant since then.
func (s *series) add(now int64, queued int, busy int32) {
	for s.at < now {
		bin := int((s.at - s.start) / s.step)
		if bin >= maxSteps {
			s.coarsen()
			continue
		}
		for len(s.queued) <= bin {
			s.queued, s.busy = append(s.queued, 0), append(s.busy, 0)
		}
		until := min(now, s.start+int64(bin+1)*s.step)
		s.queued[bin] += float64(queued) * float64(until-s.at)
		s.busy[bin] += float64(busy) * float64(until-s.at)
		s.at = until
	}
}

// coarsen doubles the length of a step, and so halves the number of steps.
func (s *series) coarsen() {
	s.step *= 2
	s.queued, s.busy = pairs(s.queued), pairs(s.busy)
}

// pairs returns the sums of x[0] and x[1], x[2] and x[3], and so on. It overwrites x.
func pairs(x []float64) []float64 {
	n := (len(x) + 1) / 2
	for i := range n {
		sum := x[2*i]
		if 2*i+1 < len(x) {
			sum += x[2*i+1]
		}
		x[i] = sum
	}
	return x[:n]
}

// result returns the means over the steps. The mean over the last step is over its
// integrated part only.
func (s *series) result(procs int32) Series {
	result := Series{Start: s.start, Step: s.step}
	for i := range s.queued {
		begin := s.start + int64(i)*s.step
		length := float64(min(s.step, s.at-begin))
		result.Queued = append(result.Queued, s.queued[i]/length)
		result.Busy = append(result.Busy, s.busy[i]/length/float64(procs))
	}
	return result
}
