package expert

import (
	"math/rand/v2"
	"testing"

	"github.com/varq-project/varq/predictor/delay"
	"github.com/varq-project/varq/predictor/forecast/twin"
	"github.com/varq-project/varq/predictor/workload"
)

// TestSurelyBeyond: where short jobs went before those with long limits, more work than ever is
// ahead of one as soon as it is in any order.
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
	if a := (anchor{longest: 2 * hour, sure: hour, likely: hour}).less(func(float64) float64 { return hour / 2 }); a != (anchor{1.5 * hour, hour / 2, hour / 2, false, false}) {
		t.Errorf("half an hour later: %+v", a)
	}
}

// TestTooLarge: a job for which there are too few nodes waits for them, whatever became of
// simulations that were wrong.
func TestTooLarge(t *testing.T) {
	b, r := newBeyond(), workload.Request{}
	for id := range int64(100) {
		b.learn(anchor{longest: float64(id % 5)}, 1, "")
	}
	for id := range int64(100) { // what is simulated is far too long
		var d delay.Distribution
		for i := range d {
			d[i] = 1
		}
		b.expect(&workload.Job{ID: 1000 + id, Submit: 10 * id}, &d, anchor{longest: 1e6, sure: 1e6, likely: 1e6})
		b.trust.Started(1000+id, 10*id+1)
	}
	var d delay.Distribution
	for i := range d {
		d[i] = 1
	}
	never := anchorOf(&twin.Point{TooLarge: true})
	never = never.less(func(float64) float64 { return 3600 })
	if share := b.apply(&d, never, &r); share != 1 || d.Within(1e6) != 0 {
		t.Errorf("a share of %v, %v within some days", share, d.Within(1e6))
	}
}
