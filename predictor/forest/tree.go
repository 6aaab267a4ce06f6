package forest

import (
	"math"
	"math/rand/v2"
)

// tree is a regression tree; nodes[0] is its root.
type tree struct {
	nodes  []node
	leaves []uint8 // points of delays, leaf by leaf
}

// node is a fork or, with feature -1, a leaf.
type node struct {
	feature int32
	cut     float32 // up to it left; in a leaf the mean of the targets
	// left and right are the children; in a leaf the range of its cases.
	left, right int32
}

// leaf returns the leaf that x falls into.
func (t *tree) leaf(x []float32) *node {
	n := &t.nodes[0]
	for n.feature >= 0 {
		if x[n.feature] <= n.cut {
			n = &t.nodes[n.left]
		} else {
			n = &t.nodes[n.right]
		}
	}
	return n
}

// points returns the delays in the leaf that x falls into.
func (t *tree) points(x []float32) []uint8 {
	n := t.leaf(x)
	return t.leaves[n.left:n.right]
}

// keep stores the delays of the cases that the tree was grown from.
func (t *tree) keep(g *grower, point []uint8) {
	t.leaves = make([]uint8, len(g.order))
	for i, k := range g.order {
		t.leaves[i] = point[g.rows[k]]
	}
}

// limits bound the growth of a tree.
type limits struct {
	growth
	depth int
}

// glance is how many cases of a node a cut is judged by: the best of some random
// cuts is not worth more.
const glance = 128

// unit is into how many steps a logarithm is divided to be added up as integers.
const unit = 4096

// grower grows trees; its memory serves one after the other.
type grower struct {
	rng     *rand.Rand
	limits  limits
	rows    []int32   // the cases to grow from
	columns []float32 // their features, feature by feature
	targets []float32
	fixed   []int32  // targets in steps of 1/unit
	order   []uint16 // indices of rows, leaf by leaf
	nodes   []node
	width   int
}

// tree grows a tree from g.rows, by the first so many features of the cases;
// g.order then has the cases of its leaves.
func (g *grower) tree(c *cases, l limits, features int, target []float32) tree {
	n := len(g.rows)
	g.limits, g.width, g.nodes = l, features, g.nodes[:0]
	g.columns = resize(g.columns, n*features)
	g.targets, g.fixed = resize(g.targets, n), resize(g.fixed, n)
	g.order = resize(g.order, n)
	for i, row := range g.rows {
		for f, v := range c.row(row)[:features] {
			g.columns[f*n+i] = v
		}
		g.targets[i] = target[row]
		g.fixed[i] = int32(target[row] * unit)
		g.order[i] = uint16(i)
	}
	g.split(0, n, 0)
	return tree{nodes: append([]node(nil), g.nodes...)}
}

func resize[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

// split grows the subtree of the cases order[from:to].
func (g *grower) split(from, to, depth int) int32 {
	me := int32(len(g.nodes))
	sum := float32(0)
	for _, k := range g.order[from:to] {
		sum += g.targets[k]
	}
	g.nodes = append(g.nodes, node{feature: -1, cut: sum / float32(to-from), left: int32(from), right: int32(to)})
	if to-from < 2*g.limits.least || depth >= g.limits.depth {
		return me
	}
	feature, cut := g.fork(g.order[from:to])
	if feature < 0 {
		return me
	}
	middle := from + g.partition(g.order[from:to], feature, cut)
	if middle == from || middle == to {
		return me
	}
	left := g.split(from, middle, depth+1)
	right := g.split(middle, to, depth+1)
	g.nodes[me] = node{int32(feature), cut, left, right}
	return me
}

// fork returns the one of some random cuts that best tells the targets of the
// cases apart: with the least squared deviations left. It returns -1 if none
// tells anything.
func (g *grower) fork(order []uint16) (feature int, cut float32) {
	seen, step := order, 1
	if len(order) > glance {
		step = len(order) / glance
	}
	n, sum := int32(0), int32(0)
	for i := 0; i < len(seen); i += step {
		sum += g.fixed[seen[i]]
		n++
	}
	mean := sum / n
	least := int32(max(1, g.limits.least/step))
	feature = -1
	best := float32(1)
	for range g.limits.tries {
		f := g.rng.IntN(g.width)
		column := g.column(f)
		a, b := column[order[g.rng.IntN(len(order))]], column[order[g.rng.IntN(len(order))]]
		if a == b {
			continue
		}
		c := a + (b-a)*g.rng.Float32()
		// Whether a case is above the cut cannot be guessed by a processor, and so
		// there is no branch: the sign becomes a mask.
		above, part := int32(0), int32(0)
		for i := 0; i < len(seen); i += step {
			k := seen[i]
			mask := int32(math.Float32bits(c-column[k])) >> 31
			part += (g.fixed[k] - mean) & mask
			above -= mask
		}
		if above < least || n-above < least {
			continue
		}
		// The deviations of both sides from the mean add up to 0.
		deviation := float32(part)
		gain := deviation * deviation * (1/float32(above) + 1/float32(n-above))
		if gain > best {
			best, feature, cut = gain, f, c
		}
	}
	return feature, cut
}

func (g *grower) column(f int) []float32 {
	n := len(g.rows)
	return g.columns[f*n:][:n]
}

// partition moves the cases up to the cut to the front, and returns their number.
func (g *grower) partition(order []uint16, feature int, cut float32) int {
	column := g.column(feature)
	i, j := 0, len(order)
	for i < j {
		if column[order[i]] <= cut {
			i++
		} else {
			j--
			order[i], order[j] = order[j], order[i]
		}
	}
	return i
}
