package fault

import "math"

// level follows how many nodes failed of late, over how many were expected to.
type level struct{ failed, expected float64 } // fade

const (
	// levelMemory is the mean age, in days, of what counts, and levelSure how many failures are
	// taken to have come as expected.
	levelMemory = 60.
	levelSure   = 10.
)

// learn takes in how many nodes failed in a window of a span of days, and how many were expected to
// with the level until then.
func (v *level) learn(failed, expected, span float64) {
	f := math.Exp(-span / levelMemory)
	of := v.of()
	v.failed, v.expected = v.failed*f+failed, v.expected*f+expected/of
}

// of returns the factor for risks.
func (v *level) of() float64 { return (v.failed + levelSure) / (v.expected + levelSure) }
