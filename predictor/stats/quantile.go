package stats

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// The functions of this file are those of gonum's packages distuv and stat, which bring linear
// algebra of two megabytes into every program.

// NormalCDF returns the probability that a standard normal variable is at most x.
func NormalCDF(x float64) float64 { return 0.5 * math.Erfc(-x/math.Sqrt2) }

// NormalQuantile returns the p-quantile, 0 < p < 1, of the standard normal distribution.
func NormalQuantile(p float64) float64 { return mathext.NormalQuantile(p) }

// Gamma is the gamma distribution with a shape Alpha and a rate Beta.
type Gamma struct{ Alpha, Beta float64 }

// CDF returns the probability that the variable is at most x, which is not negative.
func (g Gamma) CDF(x float64) float64 { return mathext.GammaIncReg(g.Alpha, g.Beta*x) }

// StudentQuantile returns the p-quantile, 0 < p < 1, of Student's t distribution with so many
// degrees of freedom: t for which I(1/2 free, 1/2) of free/(free+t²) is the probability of both
// tails together.
func StudentQuantile(p, free float64) float64 {
	if p == 0.5 {
		return 0
	}
	x := mathext.InvRegIncBeta(free/2, 0.5, 2*min(p, 1-p))
	return math.Copysign(math.Sqrt(free*(1-x)/x), p-0.5)
}

// EmpiricalQuantile returns the p-quantile, 0 <= p <= 1, of a sample, which is sorted and not
// empty: its least element with at least the share p of the sample up to it.
func EmpiricalQuantile(p float64, sorted []float64) float64 {
	return sorted[max(0, int(math.Ceil(p*float64(len(sorted))))-1)]
}
