package completion

import (
	"github.com/varq-project/varq/predictor/delay"
	"github.com/varq-project/varq/predictor/stats"
)

// rounds is the time that several rounds take, one after another, which do not depend on one
// another: by a gamma distribution with the mean and the variance of their sum.
type rounds struct {
	n     float64 // 0 or 1 if there is no more than one
	sum   stats.Gamma
	never float64 // the probability that the end is not known, of one round and so of all
}

// roundsLike returns n rounds like one, each of which has the probabilities of p.
func roundsLike(p *Prospect, n float64) (r rounds) {
	r.n = n
	if n <= 1 {
		return r
	}
	var mean, squares, all float64
	before, at := 0., 0.
	for i := range delay.Points {
		seconds, prob := delay.At(i), p.once(delay.At(i))
		if more := prob - before; more > 0 {
			middle := (at + seconds) / 2
			all, mean, squares = all+more, mean+more*middle, squares+more*middle*middle
			before = prob
		}
		at = seconds
	}
	if r.never = 1 - all; all == 0 {
		return r
	}
	mean /= all
	variance := max(squares/all-mean*mean, 1)
	r.sum = stats.Gamma{Alpha: n * mean * mean / variance, Beta: mean / variance}
	return r
}

// prob returns the probability that all rounds have ended within some seconds.
func (r *rounds) prob(seconds float64) float64 {
	if r.never >= 1 || seconds <= 0 {
		return 0
	}
	return (1 - r.never) * r.sum.CDF(seconds)
}
