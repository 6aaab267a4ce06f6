package predictor

import "math"

// tally compares how many promises were missed with how many were expected to be.
type tally struct{ missed, expected float64 }

func (t tally) plus(o tally) tally { return tally{t.missed + o.missed, t.expected + o.expected} }

func (t tally) less(o tally) tally { return tally{t.missed - o.missed, t.expected - o.expected} }

func (t tally) times(factor float64) tally { return tally{t.missed * factor, t.expected * factor} }

// ratio returns the number of misses for each that was expected.
func (t tally) ratio() float64 { return t.missed / t.expected }

// evidence is what has become of the promises of one user with budgets in one range.
//
// Promises whose waits overlap are a burst. What delays one of them delays the others, so
// they are hardly more evidence than one promise. A burst of n promises counts like the
// square root of n. Each promise of a burst counts alike, the early starts and the late.
type evidence struct {
	past  tally   // of the bursts before the last, as they count
	burst tally   // of the last burst, each promise counted once
	size  float64 // how many promises the last burst has; it decays as the sums do
	end   int64   // the latest start in the last burst, Unix seconds
}

// sum returns the evidence as it counts.
func (e *evidence) sum() tally {
	return e.past.plus(e.burst.times(1 / math.Sqrt(max(1, e.size))))
}

// learn takes in the outcome of a promise that waited from submit to start, in Unix seconds.
// expected is the forecast probability of a miss. Calls come in the order of the starts.
func (e *evidence) learn(submit, start int64, expected float64, missed bool) {
	e.fade(decay)
	if submit > e.end {
		*e = evidence{past: e.sum()}
	}
	e.end = start
	e.size++
	e.burst.expected += expected
	if missed {
		e.burst.missed++
	}
}

// fade multiplies all sums by a factor.
func (e *evidence) fade(factor float64) {
	e.past, e.burst, e.size = e.past.times(factor), e.burst.times(factor), e.size*factor
}

// joint returns the odds for a user of whom nothing is known, from the evidence of each user
// and of the unnamed ones, who are many.
//
// Invariant: no user makes the odds worse than by a sixth, or better than by a quarter, of
// what they are without her. Her evidence has a quarter of the weight at most, by expected
// misses, and misses beyond those that the odds without her expect count for a sixth of all
// others' at most. So that the latter leaves out few misses, even while there is nothing but
// the prior, a user's evidence counts less than that of the unnamed. These weights do not
// depend on her outcomes, and so favour neither misses nor promises kept.
func joint(unnamed tally, users []tally) tally {
	base := prior.plus(unnamed)
	counted := make([]tally, len(users))
	all := base
	for i, u := range users {
		counted[i] = u.times(named)
		all = all.plus(counted[i])
	}
	for range bounding {
		next := base
		for i, u := range counted {
			rest := all.less(u)
			if most := rest.expected * mostShare / (1 - mostShare); u.expected > most {
				u = u.times(most / u.expected)
			}
			u.missed = min(u.missed, rest.ratio()*u.expected+mostExcess*rest.missed)
			counted[i] = u
			next = next.plus(u)
		}
		all = next
	}
	return all
}
