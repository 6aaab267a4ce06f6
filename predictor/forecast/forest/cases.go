package forest

import (
	"math"
	"math/rand/v2"
	"slices"
)

// cases are the newest cases, in a ring of window rows.
type cases struct {
	width  int
	x      []float32 // window rows of width features
	target []float32 // logarithms of delays
	point  []uint8   // of delay's grid
	next   int       // where the next goes
	n      int
	born   uint64 // cases ever
}

// binned says which bin of a feature each case lies in.
type binned struct {
	codes []uint8 // by case and feature
	edges []edges // by feature
	due   uint64  // cases ever when edges are drawn anew
	coded uint64  // cases ever that have codes
}

// edges are the largest values of the bins of a feature, ascending. Bins that are not
// needed end at infinity.
type edges [bins]float32

const (
	// bins is the number of bins of a feature, with about as many cases in each. It is a
	// power of 2.
	bins = 64
	// redrawn is the number of cases after which edges are drawn anew.
	redrawn = 20_000
)

func (c *cases) push(x []float32, target float32, point uint8) {
	if c.n < window {
		c.x = append(c.x, x...)
		c.target = append(c.target, target)
		c.point = append(c.point, point)
		c.n++
	} else {
		copy(c.x[c.next*c.width:], x)
		c.target[c.next], c.point[c.next] = target, point
	}
	c.next = (c.next + 1) % window
	c.born++
}

// seen returns the cases without the oldest. It stays as it is while no more than
// reserve cases are pushed.
func (c *cases) seen() cases {
	seen := *c
	seen.n = min(c.n, window-reserve)
	return seen
}

// bin finds the bins of the new cases. When it is time, it draws edges anew, by the
// newest cases, and finds the bins of all.
func (b *binned) bin(c *cases) {
	const judged = 5000
	if c.born >= b.due {
		b.due, b.coded = c.born+min(c.born, redrawn), 0
		b.edges = resize(b.edges, c.width)
		values := make([]float32, min(c.n, judged))
		for f := range b.edges {
			for age := range values {
				values[age] = c.x[c.at(age)*c.width+f]
			}
			slices.Sort(values)
			b.edges[f].draw(values)
		}
	}
	if len(b.codes) < len(c.x) {
		b.codes = append(b.codes, make([]uint8, len(c.x)-len(b.codes))...)
	}
	for n := min(c.born-b.coded, uint64(c.n)); n > 0; n-- {
		i := c.at(int(n - 1))
		for f, v := range c.row(i) {
			b.codes[i*c.width+f] = b.edges[f].bin(v)
		}
	}
	b.coded = c.born
}

// draw draws edges with about as many of the values, which are ascending, in each bin.
func (e *edges) draw(values []float32) {
	last, n := len(values)-1, 0
	for k := 1; k < bins; k++ {
		if v := values[k*len(values)/bins]; v < values[last] && (n == 0 || v > e[n-1]) {
			e[n] = v
			n++
		}
	}
	for ; n < bins; n++ {
		e[n] = float32(math.Inf(1))
	}
}

// bin returns the bin that a value lies in.
func (e *edges) bin(v float32) uint8 {
	i := 0
	for half := bins / 2; half > 0; half /= 2 {
		if v > e[i+half-1] {
			i += half
		}
	}
	return uint8(i)
}

// row returns the features of a case.
func (c *cases) row(i int) []float32 { return c.x[i*c.width:][:c.width] }

// at returns the row of the case after which so many others came.
func (c *cases) at(age int) int {
	i := c.next - 1 - age
	if i < 0 {
		i += window
	}
	return i
}

// sample draws rows with replacement, n or as many as there are cases. Newer ones are
// likelier.
func (c *cases) sample(n int, rng *rand.Rand, rows *[]int32) {
	*rows = (*rows)[:0]
	for len(*rows) < min(n, c.n) {
		age := int(rng.ExpFloat64() * memory)
		if age >= c.n {
			age = rng.IntN(c.n)
		}
		*rows = append(*rows, int32(c.at(age)))
	}
}
