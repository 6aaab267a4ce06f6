package forest

import "math/rand/v2"

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

// number returns the number, from 1, of the case in a row: how many were pushed until then.
func (c *cases) number(row int) uint64 {
	age := c.next - 1 - row
	if age < 0 {
		age += window
	}
	return c.pushed - uint64(age)
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
