// Package delay holds what forecasters say of a queueing delay: not one number
// but a probability for every number, so that one forecast answers both "by when,
// with probability .95?" and "with which probability by five o'clock?", and so
// that forecasts can be mixed, recalibrated and scored alike.
//
// All distributions share one grid of delays, which is fine near 0 and coarse
// where a delay is long: relative to a delay plus half a minute, a step is a
// tenth. Between two points of the grid, probability is spread evenly.
package delay

import (
	"math"
	"sort"
)

// Points is the number of points of the grid.
const Points = 128

// scale is the delay, in seconds, at which the grid turns from even steps to
// steps that grow with the delay; longest is its last point, some 115 days.
const (
	scale   = 30
	longest = 1e7
)

// grid are the points, seconds, ascending; the first is 0.
var grid = func() (g [Points]float64) {
	step := math.Log1p(longest/scale) / (Points - 1)
	for i := range g {
		g[i] = math.Round(scale * math.Expm1(step*float64(i)))
	}
	return g
}()

// At returns the i-th point of the grid, in seconds.
func At(i int) float64 { return grid[i] }

// Index returns the first point that is no less than a delay in seconds, or
// Points if all are less.
func Index(seconds float64) int {
	return sort.Search(Points, func(i int) bool { return grid[i] >= seconds })
}

// Distribution is the probability that a delay is at most each point of the grid:
// its elements lie between 0 and 1 and do not fall. What is missing to 1 at the
// end lies beyond the grid. The zero Distribution is that of a delay without end.
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
	return d[i-1] + (d[i]-d[i-1])*(seconds-low)/(high-low)
}

// Below returns the probability that the delay is less than a number of seconds,
// of which 0 alone has a probability of its own: Within, but for the atom at 0.
func (d *Distribution) Below(seconds float64) float64 {
	if seconds <= 0 {
		return 0
	}
	return d.Within(seconds)
}

// Rank returns where a delay of a number of seconds lies in the distribution, between
// 0 and 1: the probability of less and, where delays of that very length have one,
// the part v of it. With v drawn from [0,1), ranks of delays drawn from the
// distribution are uniform.
func (d *Distribution) Rank(seconds, v float64) float64 {
	below := d.Below(seconds)
	return below + v*(d.Within(seconds)-below)
}

// Quantile returns the least delay, in seconds, that is not exceeded with
// probability q. It is +Inf where that lies beyond the grid.
func (d *Distribution) Quantile(q float64) float64 {
	i := sort.Search(Points, func(i int) bool { return d[i] >= q })
	switch i {
	case 0:
		return 0
	case Points:
		return math.Inf(1)
	}
	return grid[i-1] + (grid[i]-grid[i-1])*(q-d[i-1])/(d[i]-d[i-1])
}

// Held returns the expected number of seconds of a budget that are left when the
// delay is over, E[max(0, budget - delay)]: the integral of the distribution from
// 0 to the budget.
func (d *Distribution) Held(budget float64) float64 {
	sum := 0.
	for i := 1; i < Points; i++ {
		if grid[i] >= budget {
			return sum + (max(budget, grid[i-1])-grid[i-1])*(d[i-1]+d.Within(budget))/2
		}
		sum += (grid[i] - grid[i-1]) * (d[i-1] + d[i]) / 2
	}
	return sum + (budget-longest)*d[Points-1]
}

// Mix adds a share of another distribution: the mixture of several has shares
// that sum up to 1.
func (d *Distribution) Mix(other *Distribution, share float64) {
	for i := range d {
		d[i] += share * other[i]
	}
}
