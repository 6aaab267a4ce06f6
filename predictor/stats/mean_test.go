package stats

import (
	"math"
	"testing"
)

// TestMeanInterval computes by hand: of 1, 2 and 3 the mean is 2, the deviation 1, and Student's
// quantile 4.303.
func TestMeanInterval(t *testing.T) {
	low, high, ok := MeanInterval([]float64{1, 2, 3}, .95)
	if half := 4.303 / math.Sqrt(3); !ok || math.Abs(low-2+half) > 1e-3 || math.Abs(high-2-half) > 1e-3 {
		t.Errorf("%v to %v, %v", low, high, ok)
	}
	if _, _, ok := MeanInterval([]float64{1}, .95); ok {
		t.Error("one number has an interval")
	}
}

// TestMeanIntervalCovers: it has the mean about as often as it says.
func TestMeanIntervalCovers(t *testing.T) {
	r := seeded(3)
	const trials = 4000
	in := 0
	for range trials {
		x := []float64{r.NormFloat64(), r.NormFloat64(), r.NormFloat64(), r.NormFloat64()}
		if low, high, _ := MeanInterval(x, .95); low <= 0 && 0 <= high {
			in++
		}
	}
	if share := float64(in) / trials; share < .94 || share > .96 {
		t.Errorf("%v of the intervals have the mean", share)
	}
}
