package delay

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestCRPSIsProper: of forecasts whose mean is too short, right and too long, the
// right one scores best.
func TestCRPSIsProper(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 3))
	var sums [3]float64
	for range 20_000 {
		seconds := 1000 * random.ExpFloat64()
		for i, mean := range [...]float64{700, 1000, 1400} {
			var d Distribution
			for k := range d {
				d[k] = 1 - math.Exp(-At(k)/mean)
			}
			sums[i] += d.CRPS(seconds)
		}
	}
	if sums[1] >= sums[0] || sums[1] >= sums[2] {
		t.Errorf("scores of a mean too short, right, too long: %v", sums)
	}
}

// TestCRPSBounds: a certain forecast scores 0 if it was right, and 1 if it was as wrong as
// possible.
func TestCRPSBounds(t *testing.T) {
	var never, atOnce Distribution
	for i := range atOnce {
		atOnce[i] = 1
	}
	if got := atOnce.CRPS(0); got != 0 {
		t.Errorf("a start at once, forecast with certainty, scores %v", got)
	}
	if got := never.CRPS(0); got != 1 {
		t.Errorf("a start at once, held to be impossible, scores %v", got)
	}
}
