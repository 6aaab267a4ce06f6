package stats

import "math"

// MeanInterval returns the interval of confidence c, 0 < c < 1, for the mean of what the numbers
// are a sample of: mean ± t s/√n, where t is a quantile of Student's distribution with n-1 degrees
// of freedom. The numbers must be independent of one another. MeanInterval reports false if there
// are fewer than two.
func MeanInterval(x []float64, c float64) (low, high float64, ok bool) {
	n := float64(len(x))
	if n < 2 {
		return 0, 0, false
	}
	mean, squares := 0., 0.
	for _, v := range x {
		mean += v / n
	}
	for _, v := range x {
		squares += (v - mean) * (v - mean)
	}
	half := StudentQuantile((1+c)/2, n-1) * math.Sqrt(squares/(n-1)/n)
	return mean - half, mean + half, true
}
