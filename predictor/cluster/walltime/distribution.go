package walltime

import (
	"math/rand/v2"
	"sort"
)

// levels is the number of equally probable stretches that a Distribution is
// divided into, and of the bins in which a reliability counts.
const levels = 64

// Distribution is how probable which run times of a job are. It is a value that
// takes no other memory: made once, it can be asked and drawn from often.
//
// Run times are those that logs tell, in whole seconds: a run of x seconds stands
// for x-1/2 to x+1/2, and what runs for as long as the limit, or longer, for the
// limit, which has a probability of its own. Between the quantiles that are kept,
// probability is spread evenly. The zero Distribution is that of no time at all.
type Distribution struct {
	// quantiles are by how much the run times, before rounding, of those jobs that
	// end before the limit exceed the age: the i-th is not exceeded by i of levels.
	// They do not fall.
	quantiles  [levels + 1]float32
	before     float32 // probability of an end before the limit
	age, limit int64   // the limit is no less than the age
}

// level returns the probability of a run time before rounding that exceeds the age by
// at most x, and lies before the limit.
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

// Quantile returns the least run time, in seconds, that the job does not exceed
// with probability q: more than its age, and at most its limit. If it has outlived
// that, it ends now.
func (d *Distribution) Quantile(q float64) int64 {
	if q >= float64(d.before) {
		return d.limit
	}
	x := max(0, q) / float64(d.before) * levels
	i := min(int(x), levels-1)
	low, high := float64(d.quantiles[i]), float64(d.quantiles[i+1])
	return min(d.age+int64(low+(high-low)*(x-float64(i))+.5), d.limit)
}

// Draw returns a run time in seconds at random.
func (d *Distribution) Draw(r *rand.Rand) int64 { return d.Quantile(r.Float64()) }
