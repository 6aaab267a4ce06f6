package joint

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

// slowBivariate integrates P[Y <= k given x] over x <= h by Simpson's rule.
func slowBivariate(h, k, r float64) float64 {
	const from, n = -9., 40_000
	if h <= from {
		return 0
	}
	f := func(x float64) float64 {
		return distuv.UnitNormal.Prob(x) * cdf((k-r*x)/math.Sqrt((1-r)*(1+r)))
	}
	step := (h - from) / n
	sum := f(from) + f(h)
	for i := 1; i < n; i++ {
		sum += f(from+float64(i)*step) * float64(2+2*(i%2))
	}
	return sum * step / 3
}

func TestBivariate(t *testing.T) {
	for _, r := range []float64{-.999, -.95, -.9251, -.9249, -.7, -.3, 0, .01, .5, .9, .9249, .9251, .97, .9999} {
		for _, h := range []float64{-3, -1.2, 0, .3, 2, 4} {
			for _, k := range []float64{-2.5, -.3, 0, 1, 3} {
				got, want := bivariate(h, k, r), slowBivariate(h, k, r)
				if math.Abs(got-want) > 1e-12 {
					t.Errorf("P[X <= %v, Y <= %v] with correlation %v: %.16f, by integration %.16f", h, k, r, got, want)
				}
			}
		}
	}
}

// TestOrthant: both variables are positive with the probability 1/4 + asin(r)/(2 pi) (Sheppard
// 1899).
func TestOrthant(t *testing.T) {
	for r := -1.; r <= 1; r += 1. / 64 {
		if got, want := bivariate(0, 0, r), .25+math.Asin(r)/(2*math.Pi); math.Abs(got-want) > 1e-15 {
			t.Errorf("correlation %v: %.17f, want %.17f", r, got, want)
		}
	}
}
