package downey

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/varq-project/varq/predictor/delay"
)

// TestCorrectionDistribution: if waits are log-normal around a multiple of the predicted
// wait, the distribution has the right quantiles.
func TestCorrectionDistribution(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	draw := func(predicted float64) float64 { return 3 * predicted * math.Exp(random.NormFloat64()) }
	var c Correction
	var d delay.Distribution
	for range enough - 1 {
		c.Learn(100, draw(100))
	}
	if c.Distribution(100, &d) {
		t.Error("a distribution after too few waits")
	}
	for range 5000 {
		predicted := 100 * math.Exp(4*random.Float64())
		c.Learn(predicted, draw(predicted))
	}
	for _, predicted := range [...]float64{100, 1000, 5000} {
		if !c.Distribution(predicted, &d) {
			t.Fatal("no distribution")
		}
		for level, deviations := range map[float64]float64{.5: 0, .8413: 1, .0228: -2} {
			got, want := d.Quantile(level), 3*predicted*math.Exp(deviations)
			if math.Abs(math.Log(got/want)) > .15 {
				t.Errorf("of %v, the %v quantile is %.0f, want %.0f", predicted, level, got, want)
			}
		}
	}
}

// TestCorrectionOfNothing: if no job ever waits, the distribution is of no wait.
func TestCorrectionOfNothing(t *testing.T) {
	var c Correction
	for i := range 100 {
		c.Learn(float64(i), 0)
	}
	var d delay.Distribution
	if !c.Distribution(50, &d) || d[0] != 1 {
		t.Errorf("no wait with probability %v", d[0])
	}
}
