package stats

import (
	"math"
	"math/rand/v2"
	"slices"
)

// LogUniform is the distribution of a number whose logarithm is uniform between ln Min and
// ln Max, 0 < Min < Max: P[X <= x] = b0 + b1 ln x with b1 = 1/ln(Max/Min) and
// b0 = -b1 ln Min. Downey (1997, equation 4) finds it for the lifetimes of batch jobs.
type LogUniform struct {
	Min, Max float64
}

// CDF returns P[X <= x].
func (l LogUniform) CDF(x float64) float64 {
	switch {
	case x <= l.Min:
		return 0
	case x >= l.Max:
		return 1
	}
	return math.Log(x/l.Min) / math.Log(l.Max/l.Min)
}

// Quantile returns the x with P[X <= x] = p, 0 <= p <= 1.
func (l LogUniform) Quantile(p float64) float64 {
	return l.Min * math.Exp(p*math.Log(l.Max/l.Min))
}

// Mean returns the expected value.
func (l LogUniform) Mean() float64 {
	return (l.Max - l.Min) / math.Log(l.Max/l.Min)
}

// Rand draws a number from the distribution.
func (l LogUniform) Rand(random *rand.Rand) float64 {
	return l.Quantile(random.Float64())
}

// FitLogUniform fits the distribution to a sample of positive values. It fits a line by least
// squares to the points (ln x_i, (i-1/2)/n), where x_i is the i-th smallest value. It reports
// false if the sample has fewer than two different values. The cost is O(n log n).
func FitLogUniform(sample []float64) (LogUniform, bool) {
	sorted := slices.Clone(sample)
	slices.Sort(sorted)
	var line Line
	for i, x := range sorted {
		line.Add(math.Log(x), (float64(i)+.5)/float64(len(sorted)))
	}
	b0, b1, ok := line.Fit()
	if !ok {
		return LogUniform{}, false
	}
	return LogUniform{Min: math.Exp(-b0 / b1), Max: math.Exp((1 - b0) / b1)}, true
}
