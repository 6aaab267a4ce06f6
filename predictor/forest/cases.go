package forest

import (
	"math"
	"math/rand/v2"
	"slices"
)

// cases are the newest cases, in a ring.
type cases struct {
	width  int
	x      []float32 // window rows of width features
	codes  []uint8   // of x: which bin of the feature a value lies in
	target []float32 // logarithms of delays
	point  []uint8   // of delay's grid
	next   int       // where the next goes
	n      int
	born   uint64 // cases ever

	edges []edges // by feature
	due   uint64  // when they are drawn anew
	coded uint64  // cases ever that have codes
}

// edges are where each bin of a feature ends, ascending: up to there a value lies in
// it. Those that are not needed are infinite.
type edges [bins]float32

const (
	// bins is a power of 2: into how many bins of about equally many cases the values of a feature
	// fall, at most.
	bins = 64
	// redrawn is after how many cases bins are drawn anew.
	redrawn = 20_000
)

func newCases(width int) cases { return cases{width: width, edges: make([]edges, width)} }

func (c *cases) push(x []float32, target float32, point uint8) {
	if c.n < window {
		c.x = append(c.x, x...)
		c.codes = append(c.codes, make([]uint8, c.width)...)
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

// bin finds the bins of the cases that are new, or of all if it is time to draw them
// anew, by the newest.
func (c *cases) bin() {
	const judged = 5000
	if c.born >= c.due {
		c.due, c.coded = c.born+min(c.born, redrawn), 0
		values := make([]float32, min(c.n, judged))
		for f := range c.edges {
			for age := range values {
				values[age] = c.x[c.at(age)*c.width+f]
			}
			slices.Sort(values)
			c.edges[f].draw(values)
		}
	}
	for n := min(c.born-c.coded, uint64(c.n)); n > 0; n-- {
		c.code(c.at(int(n - 1)))
	}
	c.coded = c.born
}

func (c *cases) code(i int) {
	codes := c.codes[i*c.width:]
	for f, v := range c.row(int32(i)) {
		codes[f] = c.edges[f].bin(v)
	}
}

// draw has bins that each have about as many of the values, which are ascending.
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
func (c *cases) row(i int32) []float32 { return c.x[int(i)*c.width:][:c.width] }

// at returns the index of the case after which so many others came.
func (c *cases) at(age int) int {
	i := c.next - 1 - age
	if i < 0 {
		i += c.n
	}
	return i
}

// sample draws cases with replacement into rows, n or as many as there are: the
// newer, the likelier.
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
