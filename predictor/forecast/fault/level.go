package fault

import "math"

// level compares how many nodes failed lately with how many were expected to fail.
type level struct{ failed, expected float64 } // both fade

const (
	// levelMemory is the mean age, in days, of the failures that count. levelSure is the weight of
	// the prior: so many failures are assumed to have come as expected.
	levelMemory = 60.
	levelSure   = 10.
)

// learn takes in how many nodes failed in a window, and how many were expected to. The expectation
// includes the level until then. span is the length of the window in days.
func (v *level) learn(failed, expected, span float64) {
	f := math.Exp(-span / levelMemory)
	of := v.of()
	v.failed, v.expected = v.failed*f+failed, v.expected*f+expected/of
}

// of returns the factor by which risks are multiplied.
func (v *level) of() float64 { return (v.failed + levelSure) / (v.expected + levelSure) }
