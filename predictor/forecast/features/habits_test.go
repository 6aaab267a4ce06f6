package features

import (
	"math"
	"testing"
)

// habitsOf returns the habits of a user who runs this many jobs now.
func habitsOf(h *habits, user int32, running float64) (most, free, after float64) {
	var v Vector
	h.set(&v, user, running)
	return float64(v[userMost]), float64(v[userRoom]), float64(v[userAfter])
}

func TestHabits(t *testing.T) {
	const day = 86_400
	var h habits
	if most, free, after := habitsOf(&h, 1, 0); most != 0 || free != 0 || after != 0 {
		t.Errorf("of a stranger: %v, %v, %v", most, free, after)
	}
	// The user runs at most two jobs at once: each of the others starts when one ends.
	h.start(1, 1, 0, 0)
	h.start(1, 2, 0, 0)
	for i := range int64(20) {
		at := (i + 1) * day
		h.end(1, at)
		h.start(1, 2, at+30, day)
	}
	if most, free, after := habitsOf(&h, 1, 1); most != 2 || free != 1 || after < .8 || after > 1 {
		t.Errorf("of who runs two at once: %v, %v to go, %v after another", most, free, after)
	}
	// Then the user runs hundreds at once, which start long after another job has ended.
	for range 40 {
		h.start(1, 300, 100*day, day)
	}
	if most, _, after := habitsOf(&h, 1, 0); most != 300 || after > .05 {
		t.Errorf("of who runs 300 at once: %v, %v after another", most, after)
	}
	for range 500 {
		h.start(1, 1, 100*day, 0)
	}
	if most, _, _ := habitsOf(&h, 1, 0); math.Abs(most-300*math.Pow(.999, 500)) > .01 {
		t.Errorf("long ago: %v", most)
	}
}
