package recalibration

// levels are the probabilities that feedback corrects. Between neighbours, corrected
// levels are interpolated; 0 and 1 stay as they are.
var levels = [...]float64{.05, .1, .15, .2, .25, .3, .35, .4, .45, .5, .55, .6, .65, .7, .75, .8, .85, .9, .925, .95, .97, .98, .99}

// gain is how much one outcome changes a correction at most.
const gain = .0005

// feedback is adaptive conformal inference (Gibbs and Candès 2021). It has a correction
// for each level, which is added to the level. A correction grows by gain*level when an
// outcome exceeds the quantile of that level, and shrinks by gain*(1-level) when the
// quantile covers the outcome.
//
// A correction is limited to half the distance from its level to 0 or 1, whichever is
// nearer. Without a limit, it could in the end make promises of everything or of nothing.
// One user's outcomes change it by no more than mostOfOne of its limit.
//
// Invariant: as long as neither a correction nor a user's part of it has met its limit, the
// share of the n outcomes so far that its quantile covered differs from the level by
// |correction|/(gain*n). This is true whatever the world does. With a correction of .05, the
// difference is .005 after 20,000 outcomes.
type feedback [len(levels)]float64

// mostOfOne is the share of the limit of a correction that is the limit of one user's part.
const mostOfOne = 1. / 5

// learn takes in the PIT of a recalibrated forecast. own is the user's part of the
// corrections, or nil if nobody knows whose job it was.
func (f *feedback) learn(pit float64, own *feedback) {
	for k, level := range levels {
		covered := 0.
		if pit <= level {
			covered = 1
		}
		limit, change := min(level, 1-level)/2, gain*(level-covered)
		if own != nil {
			before := own[k]
			own[k] = max(-mostOfOne*limit, min(before+change, mostOfOne*limit))
			change = own[k] - before
		}
		f[k] = max(-limit, min(f[k]+change, limit))
	}
}

// inverse finds the level whose corrected value is a given probability. It goes through
// the levels once, upwards. Invariant: the corrected values that it uses do not fall; one
// that is less than the value below is raised to that.
type inverse struct {
	*feedback
	next         int     // high is levels[next], or 1 after the last of levels
	low, lowAt   float64 // a level, at first 0, and its corrected value
	high, highAt float64 // the next level, and its corrected value
}

func (f *feedback) inverse() inverse {
	return inverse{feedback: f, high: levels[0], highAt: levels[0] + f[0]}
}

// at returns the level whose corrected value is p. p must not be less than in the call
// before.
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
