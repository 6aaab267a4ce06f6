package score

import "math"

// Prediction is the predictive distribution of a wait: a *delay.Distribution, for example,
// or the empirical distribution of past waits.
type Prediction interface {
	// Quantile returns the least wait, in seconds, that is not exceeded with
	// probability q, or +Inf if the distribution has none.
	Quantile(q float64) float64
	// Within returns the probability that the wait is at most a number of seconds.
	Within(seconds float64) float64
	// Below returns the probability that the wait is less than a number of seconds.
	Below(seconds float64) float64
}

// Quantile is a forecast quantile and its outcome.
type Quantile struct {
	Seconds float64 // as forecast; +Inf if the forecast has none
	// Covered says that the wait was less than Seconds, or equal to Seconds with a
	// randomised PIT of at most q.
	Covered bool
}

// Known reports whether the quantile has a number.
func (q Quantile) Known() bool { return q.Seconds >= 0 && !math.IsInf(q.Seconds, 1) }

// Quantiles appends to list the quantiles of p at some levels and their outcomes. wait is
// in seconds, and v is drawn from [0,1) for each wait.
//
// The randomised probability integral transform (PIT) of a wait w under the distribution
// F of p is F(w-) + v (F(w) - F(w-)). It decides if a wait is equal to the quantile, as often
// with waits of 0 or 1 s. So the expected coverage of an exact forecast is exact even with ties.
func Quantiles(list []Quantile, p Prediction, levels []float64, wait, v float64) []Quantile {
	rank := math.NaN() // not needed yet
	for _, q := range levels {
		x := p.Quantile(q)
		covered := wait < x
		if wait == x {
			if math.IsNaN(rank) {
				below := p.Below(wait)
				rank = below + v*(p.Within(wait)-below)
			}
			covered = rank <= q
		}
		list = append(list, Quantile{x, covered})
	}
	return list
}

// Pinball returns the pinball loss, in seconds, of the forecast x of a q-quantile:
// q (w-x) for a wait w of x or more, and (1-q) (x-w) for a shorter one. Its mean is
// least at the true quantile.
func Pinball(q, x, wait float64) float64 { return max(q*(wait-x), (1-q)*(x-wait)) }
