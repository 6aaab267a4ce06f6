package stats

import (
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// TestAgainstGonum: distributions and quantiles are bit by bit those of gonum.
func TestAgainstGonum(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 10_000 {
		p, free, x := r.Float64(), float64(1+r.IntN(400)), 4*r.NormFloat64()
		if got, want := NormalCDF(x), distuv.UnitNormal.CDF(x); got != want {
			t.Errorf("the probability of at most %v is %v, want %v", x, got, want)
		}
		if got, want := NormalQuantile(p), distuv.UnitNormal.Quantile(p); got != want {
			t.Errorf("the %v-quantile is %v, want %v", p, got, want)
		}
		if got, want := StudentQuantile(p, free), (distuv.StudentsT{Sigma: 1, Nu: free}).Quantile(p); got != want {
			t.Errorf("Student's %v-quantile with %v degrees of freedom is %v, want %v", p, free, got, want)
		}
	}
	for range 1000 {
		alpha, beta, x := .1+50*r.Float64(), .001+r.Float64(), 100*r.Float64()
		if got, want := (Gamma{alpha, beta}).CDF(x), (distuv.Gamma{Alpha: alpha, Beta: beta}).CDF(x); got != want {
			t.Errorf("the probability of at most %v with shape %v and rate %v is %v, want %v", x, alpha, beta, got, want)
		}
	}
	if got := StudentQuantile(.5, 3); got != 0 {
		t.Errorf("Student's median is %v", got)
	}
	for range 1000 {
		sample := make([]float64, 1+r.IntN(50))
		for i := range sample {
			sample[i] = float64(r.IntN(20))
		}
		slices.Sort(sample)
		for _, p := range []float64{0, r.Float64(), float64(r.IntN(len(sample)+1)) / float64(len(sample)), 1} {
			if got, want := EmpiricalQuantile(p, sample), stat.Quantile(p, stat.Empirical, sample, nil); got != want {
				t.Errorf("the %v-quantile of %v is %v, want %v", p, sample, got, want)
			}
		}
	}
}
