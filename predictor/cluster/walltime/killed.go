package walltime

import "math"

// knots is the number of probabilities of being killed at the limit that are tested separately.
// Their odds go from e^-8 to e^4 by factors of e^1/2.
const knots = 25

// odds is a probability, and where it lies between knots: share of the way from knot i to the
// next.
type odds struct {
	probability float64
	i           int
	share       float64
}

// oddsOf returns the odds of a probability between 0 and 1, both excluded.
func oddsOf(probability float64) odds {
	x := 2 * (math.Log(probability/(1-probability)) + 8)
	x = max(0, min(x, knots-1))
	i := min(int(x), knots-2)
	return odds{probability, i, x - float64(i)}
}

// killing recalibrates probabilities of being killed at the limit: it learns how often jobs with
// such a probability were killed. The zero killing changes nothing.
type killing [knots]struct{ killed, n float64 }

// add learns whether a job with the odds o of being killed was killed.
func (k *killing) add(o odds, killed bool) {
	k.at(o.i, 1-o.share, killed)
	k.at(o.i+1, o.share, killed)
}

// at learns the outcome at knot i, with a weight of share.
func (k *killing) at(i int, share float64, killed bool) {
	keep := 1 - share/life
	k[i].n = k[i].n*keep + share
	k[i].killed *= keep
	if killed {
		k[i].killed += share
	}
}

// worth returns the recalibrated probability. It lies between 0 and 1, both excluded.
func (k *killing) worth(o odds) float64 {
	const believe = 5. // outcomes at a knot
	low := (k[o.i].killed + believe*o.probability) / (k[o.i].n + believe)
	high := (k[o.i+1].killed + believe*o.probability) / (k[o.i+1].n + believe)
	return low + (high-low)*o.share
}
