package forest

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/varq-project/varq/predictor/delay"
)

// TestLate: while late features are 0, a model forecasts as one without them, to the bit. When they
// begin to tell something, it learns what soon.
func TestLate(t *testing.T) {
	const features, late, before, after = 6, 2, 3000, 2500
	model := func(features, late int) *Model {
		m := New(features, Light, rand.New(rand.NewPCG(1, 2)), nil)
		m.Late(late)
		return m
	}
	without, with := model(features, 0), model(features+late, late)
	random := rand.New(rand.NewPCG(3, 4))
	x := make([]float32, features+late)
	learn := func(m *Model, x []float32, seconds float64) {
		m.Learn(m.Case(x), seconds)
		m.Grow()
	}
	for i := range before {
		draw(x[:features], random)
		seconds := steep(x) * random.ExpFloat64()
		learn(without, x[:features], seconds)
		learn(with, x, seconds)
		var one, other delay.Distribution
		a, b := without.Predict(without.Case(x[:features]), &one), with.Predict(with.Case(x), &other)
		if a != b || one != other {
			t.Fatalf("after %d cases: %v and %v", i, one, other)
		}
	}
	tells := func() float64 {
		draw(x, random)
		x[features] = float32(random.IntN(2))
		return 1000 * math.Exp(5*float64(x[features]))
	}
	for range after {
		learn(with, x, tells()*random.ExpFloat64())
	}
	off := 0.
	const asked = 500
	for range asked {
		mean := tells()
		var d delay.Distribution
		with.Predict(with.Case(x), &d)
		off += math.Abs(math.Log(d.Quantile(.9)) - math.Log(mean*math.Log(10)))
	}
	if off /= asked; off > 1.5 {
		t.Errorf("the logarithm of the .9 quantile is off by %.2f", off)
	}
}
