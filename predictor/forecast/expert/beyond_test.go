package expert

import (
	"math/rand/v2"
	"testing"

	"github.com/varq-project/varq/predictor/delay"
	"github.com/varq-project/varq/predictor/workload"
)

// TestSurelyBeyond: where short jobs went before those with long limits, more work than ever is ahead of one as soon as it is in any order.
func TestSurelyBeyond(t *testing.T) {
	const hour = 3600.
	random := rand.New(rand.NewPCG(1, 1))
	b := newBeyond()
	for range 2000 {
		b.learn(anchor{longest: 100 * hour * random.ExpFloat64(), sure: 60 * random.Float64()}, 10*random.Float64(), "")
	}
	within := func(a anchor) (share, prob float64) {
		var d delay.Distribution
		for i := range d {
			d[i] = 1 // it starts at once
		}
		share = b.apply(&d, a, &workload.Request{})
		return share, d.Within(hour)
	}
	if share, prob := within(anchor{longest: 75 * hour, sure: 12 * hour}); share != 0 || prob != 1 {
		t.Errorf("behind half a day of work in an order that is not known: a share of %v, %v within an hour", share, prob)
	}
	if share, prob := within(anchor{longest: 75 * hour, sure: 30, ordered: true}); share != 0 || prob != 1 {
		t.Errorf("behind long limits, as ever: a share of %v, %v within an hour", share, prob)
	}
	if share, prob := within(anchor{longest: 75 * hour, sure: 12 * hour, ordered: true}); share != 1 || prob > .01 {
		t.Errorf("behind half a day of work: a share of %v, %v within an hour", share, prob)
	}
	if a := (anchor{longest: 2 * hour, sure: hour, likely: hour}).less(func(float64) float64 { return hour / 2 }); a != (anchor{1.5 * hour, hour / 2, hour / 2, false}) {
		t.Errorf("half an hour later: %+v", a)
	}
}
