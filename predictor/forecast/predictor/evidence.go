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
// A user counts for a bounded number of expected misses, of which her outcomes change nothing,
// so that neither misses nor promises kept are favoured. And of her misses those count that the
// odds without her expect, and few more. What the others expect is first estimated as if the
// odds were the prior, so that she cannot make room for more misses by those that she brings.
//
// Invariant: no user makes the odds worse than by a quarter, or better than by a sixth, of what
// they are without her.
func joint(unnamed tally, users []tally) tally {
	base := prior.plus(unnamed)
	weighed, counted := make([]tally, len(users)), make([]tally, len(users))
	first := base
	for i, u := range users {
		u = u.times(named)
		if u.expected > mostExpected {
			u = u.times(mostExpected / u.expected)
		}
		weighed[i], counted[i] = u, u.beside(prior)
		first = first.plus(counted[i])
	}
	all := base
	for i, u := range weighed {
		all = all.plus(u.beside(first.less(counted[i])))
	}
	return all
}

// beside returns a user's evidence with no more misses than count beside the others' evidence.
func (t tally) beside(others tally) tally {
	t.missed = min(t.missed, others.ratio()*t.expected+mostExcess*others.missed)
	return t
}
