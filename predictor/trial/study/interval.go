package study

import (
	"gonum.org/v1/gonum/stat"

	"github.com/varq-project/varq/predictor/stats"
)

// intervalOf returns the mean of a sample with its 95 % confidence interval, mean ± t s/√n,
// where t is the .975 quantile of Student's distribution with n-1 degrees of freedom. The
// numbers of the sample must be independent. Here each comes from another seed.
func intervalOf(x []float64) Interval {
	n := len(x)
	if n == 0 {
		return Interval{}
	}
	mean := stat.Mean(x, nil)
	low, high, ok := stats.MeanInterval(x, .95)
	if !ok {
		low, high = mean, mean
	}
	return Interval{Mean: mean, Low: low, High: high, N: n}
}

// within returns the part of the interval between low and high, with the mean. Where all
// numbers of which it is the mean lie between them, so does the true mean: the confidence is the
// same.
func (i Interval) within(low, high float64) Interval {
	i.Low, i.High = min(i.Mean, max(i.Low, low)), max(i.Mean, min(i.High, high))
	return i
}
