package scenario

// bins bounds the number of steps of a series.
const bins = 512

// series integrates the queued jobs and the busy processors over steps of time. The
// step doubles whenever there would be more than bins of them.
type series struct {
	start, step  int64
	at           int64     // the end of what is integrated
	queued, busy []float64 // integrals over each step
}

func newSeries(start int64) *series { return &series{start: start, step: 60, at: start} }

// add integrates numbers that were constant since the last call, until now.
func (s *series) add(now int64, queued int, busy int32) {
	for s.at < now {
		bin := int((s.at - s.start) / s.step)
		if bin >= bins {
			s.halve()
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

func (s *series) halve() {
	s.step *= 2
	s.queued, s.busy = pairs(s.queued), pairs(s.busy)
}

// pairs returns the sums of neighbours.
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

// result returns the means over the steps. That of the last is over the part of it that
// was integrated.
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
