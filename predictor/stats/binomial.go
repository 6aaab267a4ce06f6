package stats

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// AtMost returns P[Bin(n,p) <= k], the probability of at most k successes in n
// independent trials that each succeed with probability p. It is exact up to
// rounding (the regularised incomplete beta function), whatever n.
func AtMost(k, n int, p float64) float64 {
	switch {
	case k < 0:
		return 0
	case k >= n:
		return 1
	}
	return mathext.RegIncBeta(float64(n-k), float64(k+1), 1-p)
}

// QuantileBound returns the index k, counted from 1, of the order statistic
// that bounds the q-quantile from above: of n independent observations sorted
// in increasing order, the k-th smallest is at least the q-quantile with
// confidence c. k is the least index with P[Bin(n,q) <= k-1] >= c, and
// confidence is the confidence really achieved, that probability; 0 < c < 1. It reports
// false when even the largest observation does not reach c, which is when
// 1-q^n < c, and so for q >= 1.
//
// The bound from below on the (1-q)-quantile is, by symmetry, the k-th largest.
func QuantileBound(n int, q, c float64) (k int, confidence float64, ok bool) {
	q = max(q, 0)
	if n < 1 || !(1-math.Pow(q, float64(n)) >= c) {
		return 0, 0, false
	}
	// The normal approximation tells where to look; a step or two is usual.
	mean, deviation := float64(n)*q, math.Sqrt(float64(n)*q*(1-q))
	k = int(max(1, min(mean+mathext.NormalQuantile(c)*deviation+1, float64(n))))
	confidence = AtMost(k-1, n, q)
	for k < n && confidence < c {
		k++
		confidence = AtMost(k-1, n, q)
	}
	for k > 1 {
		less := AtMost(k-2, n, q)
		if less < c {
			break
		}
		k--
		confidence = less
	}
	return k, confidence, true
}

// SampleSize returns the least number of observations that can bound the
// q-quantile from above with confidence c: the least n with 1-q^n >= c. It is
// 59 for q = c = .95.
func SampleSize(q, c float64) int {
	n := int(math.Log1p(-c) / math.Log(q))
	for n < 1 || 1-math.Pow(q, float64(n)) < c {
		n++
	}
	return n
}

// LowerProportion returns the lower confidence bound (Clopper and Pearson's) on
// a probability that showed x successes in n independent trials: the p under
// which x successes or more have probability 1-c, and 0 when x is 0. It is the
// inverse of QuantileBound: the largest q whose index is at most x.
func LowerProportion(x, n int, c float64) float64 {
	switch {
	case x <= 0:
		return 0
	case x >= n:
		return math.Pow(1-c, 1/float64(n))
	}
	// P[Bin(n,p) >= x] = I_p(a,b) is to be 1-c.
	a, b := float64(x), float64(n-x+1)
	p := guessBeta(a, b, c)
	deviation := math.Sqrt(a*b/(a+b+1)) / (a + b)
	logBeta := mathext.Lbeta(a, b)
	for range 20 { // Halley's method; two rounds are usual
		excess := mathext.RegIncBeta(a, b, p) - (1 - c)
		density := math.Exp((a-1)*math.Log(p) + (b-1)*math.Log1p(-p) - logBeta)
		newton := excess / density
		step := newton / (1 - min(1, newton*((a-1)/p-(b-1)/(1-p)))/2)
		next := p - step
		if !(next > 0) {
			next = p / 2
		} else if next >= 1 {
			next = (p + 1) / 2
		}
		p = next
		// What is left is of the order of the step's cube.
		if math.Abs(step) <= 1e-3*deviation {
			break
		}
	}
	return p
}

// guessBeta approximates the p with I_p(a,b) = 1-c: Abramowitz and Stegun,
// 26.5.22. For a, b >= 2 it is within some hundredths of a standard deviation,
// and much closer when both are large.
func guessBeta(a, b, c float64) float64 {
	y := mathext.NormalQuantile(c)
	ra, rb := 1/(2*a-1), 1/(2*b-1)
	h := 2 / (ra + rb)
	lambda := (y*y - 3) / 6
	w := y*math.Sqrt(max(0, h+lambda))/h - (rb-ra)*(lambda+5./6-2/(3*h))
	return a / (a + b*math.Exp(2*w))
}

// ProportionInterval returns Clopper and Pearson's interval of confidence c for a
// probability that showed x successes in n independent trials: either end is
// missed with probability (1-c)/2 at most. It is from 0 to 1 when n is 0.
func ProportionInterval(x, n int, c float64) (low, high float64) {
	side := (1 + c) / 2
	return LowerProportion(x, n, side), 1 - LowerProportion(n-x, n, side)
}
