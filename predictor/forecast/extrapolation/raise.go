package extrapolation

import (
	"math"
	"sort"

	"github.com/varq-project/varq/predictor/delay"
)

// Share returns s: how far an anchor, in seconds, lies beyond what was learnt. It is 0 up
// to the edge, and 1 where the forecast follows the simulations alone.
func (e *Extrapolation) Share(anchor float64) float64 {
	return max(0, min(1, (e.x(anchor)-e.x(e.edge))/math.Log(far)))
}

// Apply turns d into the corrected forecast, and returns the Share of the anchor, in
// seconds.
func (e *Extrapolation) Apply(d *delay.Distribution, anchor float64) float64 {
	share := e.Share(anchor)
	if share == 0 {
		return 0
	}
	// raised returns x(Q'(p)). It rises with p.
	raised := func(p float64) float64 {
		from := e.x(d.Quantile(p))
		return max(from, (1-share)*from+share*(e.x(anchor)+e.ratio(p)))
	}
	var to delay.Distribution
	p := 0. // the probability of a wait up to the point before
	for i := range to {
		// The probability is the greatest p with Q'(p) of at most this delay.
		at, high := e.x(delay.At(i)), d[i]
		if raised(high) <= at {
			p = high
		}
		for high-p > exact {
			if middle := (p + high) / 2; raised(middle) <= at {
				p = middle
			} else {
				high = middle
			}
		}
		to[i] = p
	}
	*d = to
	return share
}

// exact is to how much of a probability Apply works it out.
const exact = 1e-5

// ratio returns r(p).
func (e *Extrapolation) ratio(p float64) float64 {
	n := len(e.ratios)
	if n == 0 {
		return 0
	}
	level := p * e.below[n-1]
	return e.ratios[min(n-1, sort.Search(n, func(i int) bool { return e.below[i] > level }))].value
}
