package desk

import (
	"math"
	"testing"

	"github.com/varq-project/varq/predictor/cluster/limits"
)

// evenly is the Prospect of something that takes up to so many seconds, all with the same
// probability.
type evenly float64

func (e evenly) Prob(seconds float64) float64 { return max(0, min(seconds/float64(e), 1)) }
func (e evenly) Within(prob float64, step int64) (int64, bool) {
	return (int64(math.Ceil(prob*float64(e))) + step - 1) / step * step, prob <= 1
}
func (evenly) TimeOut() float64     { return .1 }
func (evenly) Lost(float64) float64 { return 0 }

// What takes longer goes on after each window, and nothing starts for a time limit before one.
func TestPausing(t *testing.T) {
	p := pausing{evenly(1000), []limits.Window{{Start: 1500, End: 2500}, {Start: 2550, End: 2600}, {Start: 90_000, End: 99_000}}, 1000, 100}
	for _, c := range []struct{ seconds, prob float64 }{{300, .3}, {400, .4}, {1000, .4}, {1600, .4}, {1700, .5}, {2200, 1}} {
		if got := p.Prob(c.seconds); math.Abs(got-c.prob) > 1e-9 {
			t.Errorf("within %g s: %g, want %g", c.seconds, got, c.prob)
		}
	}
	for prob, want := range map[float64]int64{.3: 300, .4: 420, .5: 1740, 1: 2220} {
		if got, ok := p.Within(prob, 60); !ok || got != want {
			t.Errorf("%g: %d s, %v, want %d", prob, got, ok, want)
		}
	}
}

func TestFollowing(t *testing.T) {
	f := following{evenly(1000), evenly(500)}
	if got, ok := f.Within(.5, 60); !ok || got != 780 {
		t.Errorf("%d s, %v", got, ok)
	}
	for _, seconds := range []float64{0, 300, 750, 1500} {
		if got, want := f.Prob(seconds), seconds/1500; math.Abs(got-want) > .01 {
			t.Errorf("within %g s: %g, want %g", seconds, got, want)
		}
	}
}

func TestDelayed(t *testing.T) {
	d := delayed{evenly(1000), 100}
	if got, ok := d.Within(.5, 60); !ok || got != 600 {
		t.Errorf("%d s, %v", got, ok)
	}
	for _, c := range []struct{ seconds, prob float64 }{{0, 0}, {99, 0}, {100, 0}, {600, .5}, {1100, 1}} {
		if got := d.Prob(c.seconds); got != c.prob {
			t.Errorf("within %g s: %g, want %g", c.seconds, got, c.prob)
		}
	}
}
