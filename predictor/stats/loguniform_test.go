package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Downey 1997, section 2.2.1: for lifetimes from e^2 to e^12, "the median of this
// distribution is 18 minutes; the mean is 271 minutes".
func TestLogUniform(t *testing.T) {
	l := LogUniform{Min: math.Exp(2), Max: math.Exp(12)}
	if median := l.Quantile(.5) / 60; math.Abs(median-18) > .5 {
		t.Errorf("median %v min", median)
	}
	if mean := l.Mean() / 60; math.Abs(mean-271) > .5 {
		t.Errorf("mean %v min", mean)
	}
	for p := 0.; p <= 1; p += .125 {
		if got := l.CDF(l.Quantile(p)); math.Abs(got-p) > 1e-12 {
			t.Errorf("CDF(Quantile(%v)) = %v", p, got)
		}
	}
	if low, high := l.CDF(l.Min/2), l.CDF(2*l.Max); low != 0 || high != 1 {
		t.Errorf("beyond the ends: %v and %v", low, high)
	}
	random := rand.New(rand.NewPCG(1, 1))
	sum := 0.
	for range 100_000 {
		sum += math.Log(l.Rand(random))
	}
	if mean := sum / 100_000; math.Abs(mean-7) > .05 {
		t.Errorf("mean logarithm %v, want 7", mean)
	}
}

func TestFitLogUniform(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	want := LogUniform{Min: 3, Max: 50_000}
	sample := make([]float64, 20_000)
	for i := range sample {
		sample[i] = want.Rand(random)
	}
	got, ok := FitLogUniform(sample)
	if !ok || math.Abs(math.Log(got.Min/want.Min)) > .1 || math.Abs(math.Log(got.Max/want.Max)) > .1 {
		t.Errorf("got %v, %v, want about %v", got, ok, want)
	}
	for _, sample := range [][]float64{nil, {5}, {5, 5, 5}} {
		if got, ok := FitLogUniform(sample); ok {
			t.Errorf("%v: %v", sample, got)
		}
	}
}
