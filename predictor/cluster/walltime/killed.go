package walltime

import "math"

// knots is the number of probabilities of being killed at the limit that are put to
// the test apart from each other: their odds go from e^-8 to e^4 by factors of e^1/2.
const knots = 25

// odds says between which knots a probability lies: in that at i with a share of
// 1-share, and in the next with share.
type odds struct {
	probability float64
	i           int
	share       float64
}

// oddsOf returns the odds of a probability, which is neither 0 nor 1.
func oddsOf(probability float64) odds {
	x := 2 * (math.Log(probability/(1-probability)) + 8)
	x = max(0, min(x, knots-1))
	i := min(int(x), knots-2)
	return odds{probability, i, x - float64(i)}
}

// killing tells what probabilities of being killed at the limit were worth. Its zero
// value believes them.
type killing [knots]struct{ killed, n float64 }

// add takes in whether a job was killed that had certain odds of it.
func (k *killing) add(o odds, killed bool) {
	k.at(o.i, 1-o.share, killed)
	k.at(o.i+1, o.share, killed)
}

func (k *killing) at(i int, share float64, killed bool) {
	keep := 1 - share/life
	k[i].n = k[i].n*keep + share
	k[i].killed *= keep
	if killed {
		k[i].killed += share
	}
}

// worth returns what a probability was worth. It lies between 0 and 1, both excluded,
// like that.
func (k *killing) worth(o odds) float64 {
	const believe = 5. // outcomes at a knot
	low := (k[o.i].killed + believe*o.probability) / (k[o.i].n + believe)
	high := (k[o.i+1].killed + believe*o.probability) / (k[o.i+1].n + believe)
	return low + (high-low)*o.share
}
