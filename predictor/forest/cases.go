package forest

import "math/rand/v2"

// cases are the newest cases, in a ring.
type cases struct {
	width  int
	x      []float32 // window rows of width features
	target []float32 // logarithms of delays
	point  []uint8   // of delay's grid
	next   int       // where the next goes
	n      int
	born   uint64 // cases ever
}

func newCases(width int) cases { return cases{width: width} }

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

// row returns the features of a case.
func (c *cases) row(i int32) []float32 { return c.x[int(i)*c.width:][:c.width] }

// sample draws n cases with replacement into rows: the newer, the likelier.
func (c *cases) sample(n int, rng *rand.Rand, rows *[]int32) {
	*rows = (*rows)[:0]
	for len(*rows) < n {
		age := int(rng.ExpFloat64() * memory)
		if age >= c.n {
			age = rng.IntN(c.n)
		}
		i := c.next - 1 - age
		if i < 0 {
			i += c.n
		}
		*rows = append(*rows, int32(i))
	}
}
