package speedup

// Tests of what Downey's report (UCB/CSD-97-929) states about speedup, by section.

import (
	"math"
	"testing"
)

// Section 2.1.2: "When sigma = 1 the two models (high and low variance) are
// identical."
func TestSection212ModelsMeet(t *testing.T) {
	for _, a := range []float64{1, 1.7, 2, 64, 1000} {
		for n := 1.; n < 3*a; n += a / 16 {
			low, high := Downey{a, 1}.Of(n), Downey{a, math.Nextafter(1, 2)}.Of(n)
			if math.Abs(low-high) > 1e-12*low {
				t.Errorf("A=%v, n=%v: %v and %v", a, n, low, high)
			}
		}
	}
}

// Figure 2: "When sigma = 0 the curve matches the theoretical upper bound for
// speedup - bound at first by the hardware limit (linear speedup) and then by
// the software limit (the average parallelism A)."
func TestFigure2UpperBound(t *testing.T) {
	for n := 1.; n <= 256; n++ {
		if s := (Downey{64, 0}).Of(n); s != min(n, 64) {
			t.Errorf("%v on %v processors", s, n)
		}
	}
}

// Equation 3: "As sigma approaches infinity, the curve approaches the theoretical
// lower bound on speedup".
func TestEquation3LowerBound(t *testing.T) {
	const a = 64
	for n := 1.; n <= 256; n++ {
		least := a * n / (a + n - 1)
		if s := (Downey{a, maxVariance}).Of(n); math.Abs(s-least) > 1e-4*least {
			t.Errorf("%v on %v processors, want nearly %v", s, n, least)
		}
		for sigma := 0.; sigma < 10; sigma += .1 {
			if s := (Downey{a, sigma}).Of(n); s < least*(1-1e-12) {
				t.Errorf("sigma=%v: %v on %v processors, less than %v", sigma, s, n, least)
			}
		}
	}
}

// Section 2.1: equations 1 and 2 are the speedups of the profiles of Figure 1. A profile has
// phases. If there are enough processors, each phase uses a number of them for a time.
func TestSection21Profiles(t *testing.T) {
	type phase struct{ duration, parallelism float64 }
	run := func(profile []phase, n float64) float64 {
		total := 0.
		for _, p := range profile {
			total += p.duration * max(1, p.parallelism/n)
		}
		return total
	}
	for _, a := range []float64{1, 2.5, 64} {
		for sigma := 0.; sigma <= 3; sigma += .125 {
			profile := []phase{{1 - sigma, a}, {sigma / 2, 1}, {sigma / 2, 2*a - 1}}
			if sigma > 1 {
				profile = []phase{{sigma, 1}, {1, a + a*sigma - sigma}}
			}
			for n := 1.; n < 4*a; n += .25 {
				// On fewer processors than it uses, a phase takes longer in proportion.
				want := run(profile, 1) / run(profile, n)
				if got := (Downey{a, sigma}).Of(n); math.Abs(got-want) > 1e-9*want {
					t.Errorf("A=%v sigma=%v n=%v: %v, want %v", a, sigma, n, got, want)
				}
			}
		}
	}
}
