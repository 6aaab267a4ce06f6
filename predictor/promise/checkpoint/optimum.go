package checkpoint

import "math"

// steady is the best that can be done in the long run, under failures at a constant rate, by an
// application that can checkpoint only at its requests: a checkpoint after every so much work.
type steady struct {
	rate, cost, interval, restart float64
	// work is that between two checkpoints: a multiple of the interval.
	work float64
	// price is the time that a second of work takes, with checkpoints, failures and the work that
	// they undo: at least 1.
	price float64
}

// rarest is the least rate of failures that is reckoned with, per second: one in thirty thousand
// years.
const rarest = 1e-12

func newSteady(r *Request) steady {
	s := steady{rate: max(r.Hazard.Rate(), rarest), cost: r.Cost, interval: r.Interval, restart: r.Restart}
	requests := math.Floor(s.continuous() / s.interval)
	s.work = max(1, requests) * s.interval
	s.price = s.priceOf(s.work)
	if longer := (requests + 1) * s.interval; s.priceOf(longer) < s.price {
		s.work, s.price = longer, s.priceOf(longer)
	}
	return s
}

// continuous returns the best work between two checkpoints if there were a request at any time:
// where (e^(λ(τ+C)) - 1)/τ is least, which is the root x = λτ of x = 1 - e^-(x+λC). The iteration
// is Newton's, from above: it converges without overshooting because the function is convex.
func (s *steady) continuous() float64 {
	c := s.rate * s.cost
	x := min(1, math.Sqrt(2*c))
	for range 20 {
		y := x + c
		if y == 0 {
			break
		}
		x = max(0, x-(x+math.Expm1(-y))/-math.Expm1(-y))
	}
	return x / s.rate
}

// priceOf returns the expected time that a second of work takes with checkpoints after so much
// work: (1/λ + R)(e^(λ(τ+C)) - 1)/τ, by renewal theory (Daly 2006, equation 13, with what remains
// of his terms if a restart cannot fail).
func (s *steady) priceOf(work float64) float64 {
	exposed := s.rate * (work + s.cost)
	return (1/s.rate + s.restart) * math.Expm1(min(exposed, worst)) / work
}

// ahead returns the value of having work since the last checkpoint, if the next one is as near as
// can be to the best interval after that: see plan for what a value is. Just after a checkpoint it
// is 0.
func (s *steady) ahead(since float64) float64 {
	more := max(0, math.Round((s.work-since)/s.interval)) * s.interval
	exposed := min(s.rate*(more+s.cost), worst)
	survives, fails := math.Exp(-exposed), -math.Expm1(-exposed)
	return fails*(1/s.rate+s.restart) - s.price*survives*(since+more)
}
