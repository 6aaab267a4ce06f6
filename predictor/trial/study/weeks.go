package study

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/varq-project/varq/predictor/stats"
)

// A day and a week in seconds.
const (
	Day  = 24 * 3600
	Week = 7 * Day
)

// mostWeeks is more than the weeks of a log.
const mostWeeks = 1000

// Weeks returns a value of a case in each week, by its format, summed over the seeds.
func (r Results) Weeks(name, format string) []float64 {
	sums := make([]float64, mostWeeks)
	for n := range sums {
		for _, x := range r.Sample(Of(name, fmt.Sprintf(format, n))) {
			sums[n] += x
		}
	}
	return sums
}

// Difference returns x - y, week by week.
func Difference(x, y []float64) []float64 {
	d := make([]float64, len(x))
	for n := range x {
		d[n] = x[n] - y[n]
	}
	return d
}

// Percent returns x in per cent of y, the sums over all weeks, with the interval of confidence .95
// if weeks are independent of one another. N counts the weeks.
func Percent(x, y []float64) Interval {
	var blocks []stats.Ratio
	var sum stats.Ratio
	for n := range x {
		if y[n] != 0 || x[n] != 0 {
			blocks = append(blocks, stats.Ratio{Sum: x[n], Of: y[n]})
			sum.Sum, sum.Of = sum.Sum+x[n], sum.Of+y[n]
		}
	}
	if len(blocks) == 0 {
		return Interval{}
	}
	mean := 100 * sum.Value()
	low, high, ok := stats.RatioInterval(blocks, .95, rand.New(rand.NewPCG(1, 0)))
	if !ok {
		return Interval{Mean: mean, Low: mean, High: mean, N: 1}
	}
	return Interval{Mean: mean, Low: math.Min(mean, 100*low), High: math.Max(mean, 100*high), N: len(blocks)}
}
