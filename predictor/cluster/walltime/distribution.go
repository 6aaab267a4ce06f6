package walltime

import (
	"math"
	"math/rand/v2"
	"sort"
)

// levels is the number of equally probable intervals into which a Distribution is divided, and
// the number of bins of ranks.
const levels = 64

// Distribution is the distribution of a job's run time. It is a plain value without pointers.
//
// Run times are in whole seconds, as in logs. Before rounding, a run of x seconds lies between
// x-1/2 and x+1/2. A run as long as the limit or longer counts as the limit, which has a
// probability of its own. Between the quantiles that are kept, probability is spread evenly.
// The zero Distribution gives a run time of 0.
type Distribution struct {
	// quantiles are those of the run time before rounding, less the age, given an end
	// before the limit: the i-th is that of i/levels. They do not fall.
	quantiles  [levels + 1]float32
	before     float32 // probability of an end before the limit
	age, limit int64   // the limit is no less than the age
}

// level returns the probability that the run time, before rounding, exceeds the age by at most
// x and ends before the limit.
func (d *Distribution) level(x float64) float64 {
	i := sort.Search(levels+1, func(i int) bool { return float64(d.quantiles[i]) > x })
	switch i {
	case 0:
		return 0
	case levels + 1:
		return float64(d.before)
	}
	low, high := float64(d.quantiles[i-1]), float64(d.quantiles[i])
	return float64(d.before) / levels * (float64(i-1) + (x-low)/(high-low))
}

// Within returns the probability that the job runs for at most a number of seconds.
func (d *Distribution) Within(seconds int64) float64 {
	if seconds >= d.limit {
		return 1
	}
	return d.level(float64(seconds-d.age) + .5)
}

// Below returns the probability that the job runs for less than a number of seconds.
func (d *Distribution) Below(seconds int64) float64 {
	if seconds > d.limit {
		return 1
	}
	return d.level(float64(seconds-d.age) - .5)
}

// Quantile returns the least run time, in seconds, that the job does not exceed with probability
// q. It is more than the age, and at most the limit. For a job that has outlived its limit it is
// the age.
func (d *Distribution) Quantile(q float64) int64 {
	if q >= float64(d.before) {
		return d.limit
	}
	x := max(0, q) / float64(d.before) * levels
	i := min(int(x), levels-1)
	low, high := float64(d.quantiles[i]), float64(d.quantiles[i+1])
	return min(d.age+int64(low+(high-low)*(x-float64(i))+.5), d.limit)
}

// Longest returns the distribution of the longest of n runs that do not depend on one another, with
// n at least 1. Runs that depend on one another, as those of alike jobs do, have a shorter one.
func (d *Distribution) Longest(n int32) Distribution {
	of := *d
	of.before = float32(math.Pow(float64(d.before), float64(n)))
	for i := range of.quantiles {
		x := levels * math.Pow(float64(i)/levels, 1/float64(n))
		k := min(int(x), levels-1)
		low, high := float64(d.quantiles[k]), float64(d.quantiles[k+1])
		of.quantiles[i] = float32(low + (high-low)*(x-float64(k)))
	}
	return of
}

// Draw draws a run time, in seconds.
func (d *Distribution) Draw(r *rand.Rand) int64 { return d.Quantile(r.Float64()) }
