package checkpoint

import (
	"math"
	"testing"
)

// However sure a failure is, the number that is expected stays finite.
func TestFailures(t *testing.T) {
	for rate, want := range map[float64]float64{0: 0, 1e-6: .0864, 1: worst, math.Inf(1): worst} {
		if got := Failures(Constant(rate), 86400); math.Abs(got-want) > 1e-9 {
			t.Errorf("at %v a second %v within a day, want %v", rate, got, want)
		}
	}
}
