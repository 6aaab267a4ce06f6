package speedup

import (
	"math"
	"math/rand/v2"
	"testing"
)

// curves returns curves of Amdahl and Downey, with all extremes of their parameters.
func curves() []Curve {
	random := rand.New(rand.NewPCG(1, 1))
	all := []Curve{Amdahl{0}, Amdahl{.05}, Amdahl{1}}
	for _, a := range []float64{1, 1.25, 1.5, 2, 7.3, 64, 128, maxParallelism} {
		for _, sigma := range []float64{0, 1e-9, .5, 1, 1 + 1e-9, 1.5, 2, 100, maxVariance} {
			all = append(all, Downey{a, sigma})
		}
	}
	for range 500 {
		all = append(all, Amdahl{random.Float64()},
			Downey{math.Exp(8 * random.Float64()), 3 * random.Float64()})
	}
	return all
}

// most returns the speedup that a curve never exceeds.
func most(c Curve) float64 {
	if d, ok := c.(Downey); ok {
		return d.A
	}
	return 1 / c.(Amdahl).Serial
}

func TestProperties(t *testing.T) {
	const slack = 1 + 1e-12
	for _, c := range curves() {
		if one := c.Of(1); math.Abs(one-1) > 1e-12 {
			t.Errorf("%v: %v on one processor", c, one)
		}
		last := 0.
		for n := 1.; n < 1e5; n = n*1.07 + .25 {
			s := c.Of(n)
			if s*slack < last || s > n*slack || s > most(c)*slack {
				t.Errorf("%v: %v on %v processors, after %v", c, s, n, last)
			}
			last = s
		}
	}
}

// TestContinuity: the pieces of a curve meet at their joints. A millionth of a processor
// changes the speedup by about as little.
func TestContinuity(t *testing.T) {
	for _, c := range curves() {
		d, ok := c.(Downey)
		if !ok || d.A > 1e6 {
			continue
		}
		for _, joint := range []float64{d.A, 2*d.A - 1, d.A + d.Sigma*(d.A-1)} {
			const step = 1e-6
			if below, above := d.Of(max(1, joint-step)), d.Of(joint+step); math.Abs(above-below) > 3*step {
				t.Errorf("%v jumps from %v to %v at %v", d, below, above, joint)
			}
		}
	}
}

func TestAmdahl(t *testing.T) {
	if s := (Amdahl{.05}).Of(20); math.Abs(s-1/(.05+.95/20)) > 1e-12 {
		t.Errorf("got %v", s)
	}
	if s := (Amdahl{.1}).Of(1e12); math.Abs(s-10) > 1e-6 {
		t.Errorf("got %v on very many processors, want 10", s)
	}
}
