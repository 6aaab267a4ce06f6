package extrapolation

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/varq-project/varq/predictor/delay"
	"github.com/varq-project/varq/predictor/forecast/influence"
)

const hour = 3600.

// learnt has learnt n waits. Anchors are exponential with a mean of an hour, and each wait is
// from half as long as its anchor to as long.
func learnt(n int) *Extrapolation {
	random := rand.New(rand.NewPCG(1, 1))
	e := New()
	for range n {
		anchor := random.ExpFloat64() * hour
		e.Learn(anchor, anchor*(.5+random.Float64()/2), 1)
	}
	return e
}

// within returns the distribution of a wait that is uniform from 0 to a number of seconds.
func within(seconds float64) (d delay.Distribution) {
	for i := range d {
		d[i] = min(1, delay.At(i)/seconds)
	}
	return d
}

// TestKnownIsLeftAlone: a forecast does not change where the anchor is no longer than many
// that were learnt from, nor as long as little is known.
func TestKnownIsLeftAlone(t *testing.T) {
	for _, c := range []struct {
		learnt int
		anchor float64
	}{{0, 1000 * hour}, {leastBeyond, 1000 * hour}, {10_000, 0}, {10_000, hour}, {10_000, 4 * hour}} {
		d := within(hour)
		if share := learnt(c.learnt).Apply(&d, c.anchor); share != 0 || d != within(hour) {
			t.Errorf("%+v: a share of %v", c, share)
		}
	}
}

// TestBeyondFollowsSimulations: the farther an anchor lies beyond the edge, the nearer a
// forecast comes to what waits were where anchors were long.
func TestBeyondFollowsSimulations(t *testing.T) {
	e := learnt(10_000)
	for _, far := range []float64{10, 40, 200} {
		d := within(hour)
		share := e.Apply(&d, far*hour)
		if far > 10 && share != 1 || share < .3 {
			t.Errorf("%v hours: a share of %v", far, share)
		}
		if share < 1 {
			continue
		}
		for _, p := range []float64{.05, .5, .95} {
			// Waits were .5 + p/2 of their anchors; the grid is not much finer.
			if got := d.Quantile(p) / (far * hour); math.Abs(got-.5-p/2) > .08 {
				t.Errorf("%v hours: the %v quantile is %.2f of the anchor", far, p, got)
			}
		}
	}
}

// TestOnlyLonger: an anchor makes no wait shorter, and a longer anchor makes none shorter than
// a shorter one. A distribution remains one.
func TestOnlyLonger(t *testing.T) {
	e := learnt(3000)
	random := rand.New(rand.NewPCG(2, 2))
	for range 200 {
		var from delay.Distribution
		last := random.Float64() * random.Float64()
		for i := range from {
			if random.IntN(4) == 0 {
				last += (1 - last) * random.Float64() * .2
			}
			from[i] = last
		}
		before := from
		for _, anchor := range []float64{hour, 8 * hour, 12 * hour, 30 * hour, 1000 * hour, 1e12} {
			to := from
			e.Apply(&to, anchor)
			for i := range to {
				if to[i] > before[i]+exact || i > 0 && to[i] < to[i-1] || to[i] < 0 {
					t.Fatalf("an anchor of %v s: %v at %v s, %v before", anchor, to[i], delay.At(i), before[i])
				}
			}
			before = to
		}
	}
}

// TestAgainstQuantiles: quantiles are those of the formula in the package's comment.
func TestAgainstQuantiles(t *testing.T) {
	e := learnt(3000)
	const anchor = 12 * hour
	from, to := within(hour), within(hour)
	share := e.Apply(&to, anchor)
	if share <= 0 || share >= 1 {
		t.Fatalf("a share of %v", share)
	}
	for p := .01; p < 1; p += .01 {
		want := max(e.x(from.Quantile(p)), (1-share)*e.x(from.Quantile(p))+share*(e.x(anchor)+e.ratio(p)))
		if got := e.x(to.Quantile(p)); math.Abs(got-want) > .06 { // the grid is no finer
			t.Errorf("the %.2f quantile is %.0f s, want %.0f", p, to.Quantile(p), math.Exp(want)-mostShift)
		}
	}
}

// TestCalmPast: where nothing ever waited, and simulations saw nothing to wait for, the first
// long queue is beyond all that was learnt from.
func TestCalmPast(t *testing.T) {
	e := New()
	for range 1000 {
		e.Learn(0, 3, 1)
	}
	d := within(10)
	if share := e.Apply(&d, 100*hour); share != 1 || d.Quantile(.1) < 90*hour || d.Quantile(.9) > 110*hour {
		t.Errorf("a share of %v, a median of %v s", share, d.Quantile(.5))
	}
}

// TestLearnsTheFlood: what has been learnt from a flood is not beyond it any more.
func TestLearnsTheFlood(t *testing.T) {
	e := learnt(5000)
	before := e.Share(30 * hour)
	for range 400 {
		e.Learn(40*hour, 20*hour, 1)
	}
	if after := e.Share(30 * hour); before != 1 || after != 0 {
		t.Errorf("shares of %v and then %v", before, after)
	}
}

// TestFalseBurst: hundreds of jobs of one user whose anchors were far too long at once neither hide
// a queue that is longer than any before, nor have its anchor believed to be as far off.
func TestFalseBurst(t *testing.T) {
	e, users := learnt(5000), influence.New()
	for range 500 {
		e.Learn(1000*hour, 60, users.Weigh("bob"))
	}
	d := within(hour)
	if share := e.Apply(&d, 100*hour); share != 1 || d.Quantile(.5) < 50*hour {
		t.Errorf("a share of %v, a median of %.0f s", share, d.Quantile(.5))
	}
}

func BenchmarkApply(b *testing.B) {
	e := learnt(20_000)
	for b.Loop() {
		d := within(hour)
		e.Apply(&d, 12*hour)
	}
}
