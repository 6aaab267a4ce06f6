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
	next   int       // the row of the next case
	n      int
	pushed uint64 // the number of cases pushed so far
}

// binned says which bin of each feature a case lies in.
type binned struct {
	codes []uint8 // by case and feature: the bin
	edges []edges // by feature
	due   uint64  // the value of cases.pushed at which edges are drawn anew
	coded uint64  // the value of cases.pushed when codes were last computed
	// usual has a value of each feature: its only one, or nearly, if it has no edges. unusual is how many other
	// values late features without edges have had since edges were drawn.
	usual   []float32
	unusual int
}

// edges are the largest values of the bins of a feature, ascending. Bins that are not
// needed end at infinity.
type edges [bins]float32

const (
	// bins is the number of bins of a feature, a power of 2. Each has about as many cases.
	bins = 64
	// redrawn is the number of cases after which edges are drawn anew.
	redrawn = 20_000
	// edgeSample is the number of newest cases that edges are drawn by.
	edgeSample = 5000
	// mostUnusual is how many unusual values there are until edges are drawn anew: if they come in a row, more
	// than a bin has.
	mostUnusual = 4 * edgeSample / bins
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
	c.pushed++
}

// stable returns a view of the cases without the oldest. It stays valid until more than
// reserve further cases are pushed.
func (c *cases) stable() cases {
	stable := *c
	stable.n = min(c.n, window-reserve)
	return stable
}

// isLate reports whether a feature is one of the late ones: the last, but for the boosted ensemble's prediction.
func isLate(f, width, late int) bool { return f < width-1 && f >= width-1-late }

// bin computes the codes of the new cases. When it is time, it first draws edges anew, and
// then computes the codes of all cases. It is time, too, when enough of them differ in a late feature.
func (b *binned) bin(c *cases, late int) {
	if b.unusual >= mostUnusual {
		b.due = 0
	}
	fresh := c.pushed - b.coded
	if c.pushed >= b.due {
		b.due, b.coded, b.unusual = c.pushed+min(c.pushed, redrawn), 0, 0
		b.edges, b.usual = resize(b.edges, c.width), resize(b.usual, c.width)
		values := make([]float32, min(c.n, edgeSample))
		for f := range b.edges {
			for age := range values {
				values[age] = c.x[c.at(age)*c.width+f]
			}
			slices.Sort(values)
			b.edges[f].draw(values)
			b.usual[f] = values[len(values)/2]
		}
	}
	if len(b.codes) < len(c.x) {
		b.codes = append(b.codes, make([]uint8, len(c.x)-len(b.codes))...)
	}
	for n := min(c.pushed-b.coded, uint64(c.n)); n > 0; n-- {
		i := c.at(int(n - 1))
		for f, v := range c.row(i) {
			b.codes[i*c.width+f] = b.edges[f].bin(v)
			if n <= fresh && v != b.usual[f] && isLate(f, c.width, late) && !b.edges[f].divide() {
				b.unusual++
			}
		}
	}
	b.coded = c.pushed
}

// draw draws edges so that about as many of the values lie in each bin. Values ascend.
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

// divide reports whether there is more than one bin.
func (e *edges) divide() bool { return e[0] < math.MaxFloat32 }

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

// at returns the row of a case by its age: the number of cases pushed after it.
func (c *cases) at(age int) int {
	i := c.next - 1 - age
	if i < 0 {
		i += window
	}
	return i
}

// drawRows draws n rows with replacement, or as many as there are cases. Newer cases are
// likelier.
func (c *cases) drawRows(n int, rng *rand.Rand, rows *[]int32) {
	*rows = (*rows)[:0]
	for len(*rows) < min(n, c.n) {
		age := int(rng.ExpFloat64() * memory)
		if age >= c.n {
			age = rng.IntN(c.n)
		}
		*rows = append(*rows, int32(c.at(age)))
	}
}
