// Package delay represents a forecast of a queueing delay: a probability distribution
// over all delays. One forecast thus answers both "by when, with probability .95?" and
// "with which probability by five o'clock?". Forecasts of all methods can be mixed,
// recalibrated and scored alike.
//
// Delays are whole seconds, as Slurm and logs record them. Many may be equal: a scheduler
// that is free starts a job after 0, 1 or 2 s. So each second has a probability of its own.
//
// All distributions share one grid of delays. It is fine near 0, where it begins with 0, 1
// and 2 s, and coarse where delays are long: a step is some 11 % of the delay plus a second.
// Between two points of the grid, each second is as likely as any other.
package delay

import (
	"math"
	"sort"
)

// Points is the number of points of the grid.
const Points = 128

const (
	// Scale says, in seconds, which grid it is: its steps are about even below, and grow with
	// the delay above.
	Scale   = 10
	longest = 1e7 // seconds, some 115 days: the grid's last point
)

// grid has the points in seconds, ascending from 0.
var grid = points(Scale)

// points returns the points of a grid with a scale in seconds.
func points(scale float64) (g [Points]float64) {
	step := math.Log1p(longest/scale) / (Points - 1)
	for i := range g {
		g[i] = math.Round(scale * math.Expm1(step*float64(i)))
	}
	return g
}

// At returns the i-th point of the grid, in seconds.
func At(i int) float64 { return grid[i] }

// Index returns the index of the first point that is no less than a delay in seconds. It
// returns Points if all points are less.
func Index(seconds float64) int {
	return sort.Search(Points, func(i int) bool { return grid[i] >= seconds })
}

// Distribution is a cumulative distribution: its i-th element is the probability of a
// delay of at most At(i). Invariant: elements lie between 0 and 1 and do not fall. If the
// last one is less than 1, the rest of the probability lies beyond the grid. The zero
// Distribution is that of a delay without end.
type Distribution [Points]float64

// Within returns the probability that the delay is at most a number of seconds.
func (d *Distribution) Within(seconds float64) float64 {
	if !(seconds >= 0) {
		return 0
	}
	i := Index(seconds)
	switch i {
	case 0:
		return d[0]
	case Points:
		return d[Points-1]
	}
	low, high := grid[i-1], grid[i]
	return d[i-1] + (d[i]-d[i-1])*(math.Floor(seconds)-low)/(high-low)
}

// Below returns the probability that the delay is less than a number of seconds.
func (d *Distribution) Below(seconds float64) float64 { return d.Within(math.Ceil(seconds) - 1) }

// PIT returns the randomised probability integral transform of a delay in seconds: the
// probability of a shorter delay, plus v times the probability of exactly this one. With v
// drawn from [0,1), PITs of delays drawn from the distribution are uniform.
func (d *Distribution) PIT(seconds, v float64) float64 {
	below := d.Below(seconds)
	return below + v*(d.Within(seconds)-below)
}

// Quantile returns the least delay, in whole seconds, that is not exceeded with probability q,
// or +Inf if that delay lies beyond the grid.
func (d *Distribution) Quantile(q float64) float64 {
	i := sort.Search(Points, func(i int) bool { return d[i] >= q })
	switch i {
	case 0:
		return 0
	case Points:
		return math.Inf(1)
	}
	share := (q - d[i-1]) / (d[i] - d[i-1])
	return math.Ceil(grid[i-1] + (grid[i]-grid[i-1])*share - rounding)
}

// rounding is how many seconds above a whole number a computed quantile may lie and be that number.
const rounding = 1e-6

// Held returns how many seconds of a budget, in whole seconds, are expected to be left when the
// delay is over: E[max(0, budget - delay)], the sum of the distribution over the seconds before the
// budget.
func (d *Distribution) Held(budget float64) float64 {
	sum := 0.
	for i := 1; i < Points; i++ {
		if grid[i] >= budget {
			last := d.Within(budget)
			return sum + (max(budget, grid[i-1])-grid[i-1])*(d[i-1]+last)/2 - (last-d[0])/2
		}
		sum += (grid[i] - grid[i-1]) * (d[i-1] + d[i]) / 2
	}
	return sum + (budget-longest)*d[Points-1] - (d[Points-1]-d[0])/2
}

// Mix adds another distribution times a share. To mix several, begin with the zero
// Distribution and add each with its share; the shares sum up to 1.
func (d *Distribution) Mix(other *Distribution, share float64) {
	for i := range d {
		d[i] += share * other[i]
	}
}
