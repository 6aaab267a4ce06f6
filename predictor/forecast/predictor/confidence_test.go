package predictor

import (
	"math/rand/v2"
	"testing"

	"github.com/varq-project/varq/predictor/forecast"
)

// constant forecasts a start within any time with the same probability.
type constant struct {
	picky
	prob float64
}

func (f *constant) Forecast(_ *forecast.Question, a *forecast.Answer) bool {
	*a = forecast.Answer{}
	for i := range a.Wait {
		a.Wait[i] = f.prob
	}
	return true
}

func TestMoreConfidencePromisesLess(t *testing.T) {
	const now = 1_000_000
	for name, submit := range map[string]int64{"present": now, "later": now + 3600} {
		within := func(confidence float64) float64 {
			p := blended(rand.New(rand.NewPCG(1, 1)), &constant{prob: .9})
			p.SetConfidence(confidence)
			var a forecast.Answer
			p.Forecast(&forecast.Question{Now: now, Submit: submit}, &a)
			return a.Lower.Within(1e6)
		}
		if low, high := within(.99), within(.6); !(low < high && high < .9) {
			t.Errorf("%s: of .9 is promised %v at confidence .99, %v at .6", name, low, high)
		}
	}
}
