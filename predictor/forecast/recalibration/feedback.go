package recalibration

// levels are the probabilities that feedback corrects; between two of them, and
// towards 0 and 1, corrections are interpolated.
var levels = [...]float64{.05, .1, .15, .2, .25, .3, .35, .4, .45, .5, .55, .6, .65, .7, .75, .8, .85, .9, .925, .95, .97, .98, .99}

// gain is how much one outcome changes a correction at most.
const gain = .0005

// feedback is adaptive conformal inference (Gibbs and Candès 2021): a correction for
// each level, which is added to it. A correction grows by gain*level when the quantile
// of that level was exceeded, and shrinks by gain*(1-level) when it held.
//
// Invariant: after n outcomes, as long as a correction has not met its bound, the
// share of outcomes for which its quantile held differs from the level by
// |correction|/(gain*n), whatever the world does. With a correction of .05 that is
// .005 after 20,000 outcomes. The bound is half the distance from the level to 0 or 1,
// whichever is nearer: a correction that could grow on would in the end promise
// nothing, or anything.
type feedback [len(levels)]float64

// learn takes in the PIT of a recalibrated forecast.
func (f *feedback) learn(pit float64) {
	for k, level := range levels {
		held := 0.
		if pit <= level {
			held = 1
		}
		bound := min(level, 1-level) / 2
		f[k] = max(-bound, min(f[k]+gain*(level-held), bound))
	}
}

// inverse finds the level whose corrected value is a given probability. Corrected
// levels that would fall are raised to the one below.
type inverse struct {
	*feedback
	next         int     // Invariant: high is levels[next], or 1 when there is none
	low, lowAt   float64 // the level below, and its corrected value
	high, highAt float64
}

func (f *feedback) inverse() inverse {
	return inverse{feedback: f, high: levels[0], highAt: levels[0] + f[0]}
}

// at returns the level for a probability, no less than any it was asked for before.
func (v *inverse) at(p float64) float64 {
	for v.highAt < p && v.next < len(levels) {
		v.low, v.lowAt = v.high, v.highAt
		if v.next++; v.next < len(levels) {
			v.high, v.highAt = levels[v.next], max(v.highAt, levels[v.next]+v.feedback[v.next])
		} else {
			v.high, v.highAt = 1, 1
		}
	}
	if v.highAt > v.lowAt {
		return v.low + (v.high-v.low)*(p-v.lowAt)/(v.highAt-v.lowAt)
	}
	return v.high
}
