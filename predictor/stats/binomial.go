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

// QuantileBound returns the index k, counted from 1, of the order statistic that bounds the
// q-quantile from above: with confidence c, 0 < c < 1, the k-th smallest of n independent
// observations is at least the q-quantile. k is the least index with
// P[Bin(n,q) <= k-1] >= c, and confidence is that probability. QuantileBound reports false if
// even the largest observation is not a bound: if 1-q^n < c, as for q >= 1.
//
// By symmetry, the k-th largest observation is the lower bound on the (1-q)-quantile.
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

// SampleSize returns the least number of observations that can bound the q-quantile from
// above with confidence c: the least n with 1-q^n >= c. For q = c = .95 it is 59.
func SampleSize(q, c float64) int {
	n := int(math.Log1p(-c) / math.Log(q))
	for n < 1 || 1-math.Pow(q, float64(n)) < c {
		n++
	}
	return n
}

// LowerProportion returns Clopper and Pearson's lower bound of confidence c on the
// probability of success, after x successes in n independent trials. It is the p under which
// x or more successes have the probability 1-c, or 0 if x is 0. It is the inverse of
// QuantileBound: the largest q whose index is at most x.
func LowerProportion(x, n int, c float64) float64 {
	switch {
	case x <= 0:
		return 0
	case x >= n:
		return math.Pow(1-c, 1/float64(n))
	}
	// Solve P[Bin(n,p) >= x] = I_p(a,b) = 1-c for p.
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
		// The error left is of the order of the step's cube.
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

// ProportionInterval returns Clopper and Pearson's interval of confidence c for the
// probability of success, after x successes in n independent trials. The probability lies
// beyond either end with a chance of at most (1-c)/2. If n is 0, the interval is [0,1].
func ProportionInterval(x, n int, c float64) (low, high float64) {
	side := (1 + c) / 2
	return LowerProportion(x, n, side), 1 - LowerProportion(n-x, n, side)
}
