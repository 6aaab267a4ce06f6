package stats

import (
	"math"
	"sort"

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
// confidence is the confidence really achieved, that probability. It reports
// false when even the largest observation does not reach c, which is when
// 1-q^n < c.
//
// The bound from below on the (1-q)-quantile is, by symmetry, the k-th largest.
func QuantileBound(n int, q, c float64) (k int, confidence float64, ok bool) {
	if n < 1 || 1-math.Pow(q, float64(n)) < c {
		return 0, 0, false
	}
	k = 1 + sort.Search(n-1, func(i int) bool { return AtMost(i, n, q) >= c })
	return k, AtMost(k-1, n, q), true
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
// a probability that showed x successes in n independent trials: the least p
// under which x successes or more are not rarer than 1-c. It is 0 when x is 0.
func LowerProportion(x, n int, c float64) float64 {
	if x <= 0 {
		return 0
	}
	return mathext.InvRegIncBeta(float64(x), float64(n-x+1), 1-c)
}
