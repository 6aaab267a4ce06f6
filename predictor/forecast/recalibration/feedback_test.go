package recalibration

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/varq-project/varq/predictor/delay"
	"github.com/varq-project/varq/predictor/forecast/forecasttest"
)

// TestFeedbackAddsUp: in every world, the share of outcomes that a quantile covered differs
// from its level by the amount that follows from the correction. This does not hold for a
// correction that has reached its limit, as corrections do if outcomes always exceed the
// forecast.
func TestFeedbackAddsUp(t *testing.T) {
	never := world{"never", func(int, *rand.Rand) (*delay.Distribution, float64) { return forecasttest.Exponential(100), 1e9 }}
	for _, w := range append([]world{never}, worlds...) {
		random := rand.New(rand.NewPCG(3, 3))
		r := New()
		var covered [len(levels)]int
		var met [len(levels)]bool
		const n = 3000
		for i := range n {
			raw, seconds := w.next(i, random)
			var got Forecast
			v := random.Float64()
			r.Apply("", raw, &got)
			r.Learn("", 1, raw, &got, seconds, v)
			for k, level := range levels {
				if got.Wait.PIT(seconds, v) <= level {
					covered[k]++
				}
				met[k] = met[k] || math.Abs(r.feedback[k]) == min(level, 1-level)/2
			}
		}
		for k, level := range levels {
			off := level - float64(covered[k])/n
			if !met[k] && math.Abs(off-r.feedback[k]/(gain*n)) > 1e-6 {
				t.Errorf("%s: %v is off by %v, its correction is %v", w.name, level, off, r.feedback[k])
			}
			if level <= .9 && met[k] != (w.name == "never") {
				t.Errorf("%s: the correction of %v is %v", w.name, level, r.feedback[k])
			}
		}
	}
}

// TestInverse: the level found for a probability has that probability as its
// corrected value.
func TestInverse(t *testing.T) {
	random := rand.New(rand.NewPCG(4, 4))
	var f feedback
	for k, level := range levels {
		f[k] = min(level, 1-level) / 2 * (2*random.Float64() - 1)
	}
	corrected := func(at float64) float64 {
		low, lowAt := 0., 0.
		for k, high := range append(levels[:], 1) {
			highAt := 1.
			if k < len(levels) {
				highAt = max(lowAt, high+f[k])
			}
			if at <= high {
				return lowAt + (highAt-lowAt)*(at-low)/(high-low)
			}
			low, lowAt = high, highAt
		}
		return 1
	}
	inverse := f.inverse()
	for p := .001; p < 1; p += .001 {
		if got := corrected(inverse.at(p)); math.Abs(got-p) > 1e-9 {
			t.Errorf("%v is found for %v", got, p)
		}
	}
}
