package score

import "math"

// Prediction is the predictive distribution of a wait. A *delay.Distribution is one,
// and so are the waits of past jobs as they stand, which lie on no grid.
type Prediction interface {
	// Quantile returns the least wait, in seconds, that is not exceeded with
	// probability q, or +Inf when there is none to name.
	Quantile(q float64) float64
	// Within returns the probability that the wait is at most so many seconds.
	Within(seconds float64) float64
	// Below returns the probability that it is less.
	Below(seconds float64) float64
}

// Quantile is what became of a forecast quantile.
type Quantile struct {
	Seconds float64 // as forecast; +Inf where none was
	// Covered says that the wait was less than Seconds, or was the same and has a
	// randomised rank u <= q.
	Covered bool
}

// Quantiles appends to list what became of the quantiles of p at some levels, given
// the wait in seconds and v, which is drawn from [0,1) for each wait.
//
// The randomised rank of a wait w is u = F(w-) + v (F(w) - F(w-)), F being p. It
// decides where a wait is just the quantile, as with waits of 0 s, so that the
// expected coverage of an exact forecast is exact whatever its ties.
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
