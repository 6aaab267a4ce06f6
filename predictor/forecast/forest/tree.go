package forest

import (
	"math/rand/v2"
	"slices"
)

// tree is a regression tree. Its root is nodes[0].
type tree struct {
	nodes  []node
	leaves []uint8 // delays as points of delay's grid, leaf by leaf
	oldest []uint8 // by node: the index, within the leaf, of the delay to replace next
}

// node is a fork or, with feature -1, a leaf.
type node struct {
	feature int32
	// cut is the largest value of the feature that goes left; in a leaf it is the median
	// of the targets.
	cut float32
	// left and right are the indices of the children; in a leaf they are the range
	// [left, right) of its delays in tree.leaves.
	left, right int32
}

// leaf returns the index of the leaf that x falls into.
func (t *tree) leaf(x []float32) int32 {
	i := int32(0)
	for {
		n := &t.nodes[i]
		switch {
		case n.feature < 0:
			return i
		case x[n.feature] <= n.cut:
			i = n.left
		default:
			i = n.right
		}
	}
}

// value returns the median of the targets in the leaf that x falls into.
func (t *tree) value(x []float32) float32 { return t.nodes[t.leaf(x)].cut }

// points returns the delays in the leaf that x falls into.
func (t *tree) points(x []float32) []uint8 {
	n := &t.nodes[t.leaf(x)]
	return t.leaves[n.left:n.right]
}

// keep stores the delays of the cases that the tree was grown from.
func (t *tree) keep(g *grower) {
	t.leaves, t.oldest = make([]uint8, len(g.sown)), make([]uint8, len(t.nodes))
	for i, s := range g.sown {
		t.leaves[i] = g.cases.point[s.row]
	}
}

// refresh puts a delay into the leaf that x falls into, in place of the oldest there.
func (t *tree) refresh(x []float32, point uint8) {
	i := t.leaf(x)
	n, oldest := &t.nodes[i], &t.oldest[i]
	t.leaves[n.left+int32(*oldest)] = point
	if *oldest++; int32(*oldest) == n.right-n.left || *oldest == 255 {
		*oldest = 0
	}
}

// unit is the number of steps that a target, a logarithm, is divided into: targets are
// added up as integers.
const unit = 4096

// counting is the number of low bits of a sum that count its cases. The rest is the sum
// of their deviations.
const counting = 20

// seed is a case that a tree is grown from.
type seed struct {
	row    int32 // of the cases
	target int32 // in steps of 1/unit
}

// grower grows trees. Its memory serves one after the other.
type grower struct {
	rng    *rand.Rand
	cases  *cases
	binned binned
	rows   []int32 // the cases to grow from
	how    growth

	sown     []seed // in the order of the tree: in the end, leaf by leaf
	nodes    []node
	mean     int32   // of all targets
	features []int32 // in any order

	// Scratch.
	sums    []sums // not in use
	some    []seed
	few     []int64 // as in sums, by case
	codes   []uint8
	targets []int32
}

// sums are a histogram: by feature and bin, the number of cases, and the sum of the
// deviations of their targets from a mean. Both share an int64, as counting says.
type sums []int64

// look makes c the cases that trees are grown from.
func (g *grower) look(c *cases) {
	g.cases = c
	g.binned.bin(c)
}

// tree grows a tree from g.rows, by the first features of the cases. Afterwards g.sown
// has the cases of its leaves. Histograms of binned features make it O(s f d), with s
// rows, f features tried for each fork, and a depth of d.
func (g *grower) tree(how growth, features int, target []float32) tree {
	g.how, g.nodes = how, g.nodes[:0]
	g.sown = resize(g.sown, len(g.rows))
	for i, row := range g.rows {
		g.sown[i] = seed{row, int32(target[row] * unit)}
	}
	g.features = resize(g.features, features)
	for f := range g.features {
		g.features[f] = int32(f)
	}
	g.mean = mean(g.sown)
	g.split(0, len(g.sown), 0, nil)
	return tree{nodes: slices.Clone(g.nodes)}
}

func mean(sown []seed) int32 {
	sum := 0
	for _, s := range sown {
		sum += int(s.target)
	}
	return int32(sum / len(sown))
}

func resize[T any](s []T, n int) []T { return slices.Grow(s[:0], n)[:n] }

// split grows the subtree of the cases sown[from:to], and returns its root. It takes
// their sums over all features, or nil, and spares them in the end.
func (g *grower) split(from, to, depth int, of sums) int32 {
	me := int32(len(g.nodes))
	sown := g.sown[from:to]
	g.nodes = append(g.nodes, node{})
	var f fork
	if g.forks(sown, depth) {
		if of == nil && g.thorough(sown, depth) {
			of = g.count(sown, g.features)
		}
		f = g.fork(sown, of)
	}
	middle := from
	if f.gain > 0 {
		middle += g.partition(sown, f)
	}
	if middle == from || middle == to {
		g.spare(of)
		g.nodes[me] = node{-1, g.middle(sown), int32(from), int32(to)}
		return me
	}
	less, more := g.halve(g.sown[from:middle], g.sown[middle:to], depth+1, of)
	left := g.split(from, middle, depth+1, less)
	right := g.split(middle, to, depth+1, more)
	g.nodes[me] = node{f.feature, g.binned.edges[f.feature][f.bin], left, right}
	return me
}

// forks reports whether cases at a depth may be forked.
func (g *grower) forks(sown []seed, depth int) bool {
	return len(sown) >= 2*g.how.least && depth < g.how.depth
}

// thorough reports whether cases at a depth may be forked, by all features of all of
// them.
func (g *grower) thorough(sown []seed, depth int) bool {
	return g.forks(sown, depth) && len(sown) >= few && g.how.tries >= len(g.features) && g.how.glance >= len(sown)
}

// halve returns the sums of the left and the right part of some cases, each nil if it is
// not needed. It takes the sums of all of them, or nil. Only the smaller part is
// counted; the larger one has the rest.
func (g *grower) halve(left, right []seed, depth int, of sums) (ofLeft, ofRight sums) {
	if of == nil {
		return nil, nil
	}
	if len(left) > len(right) {
		ofRight, ofLeft = g.halve(right, left, depth, of)
		return ofLeft, ofRight
	}
	if !g.thorough(right, depth) {
		g.spare(of)
		return nil, nil
	}
	ofLeft = g.count(left, g.features)
	for i, n := range ofLeft {
		of[i] -= n
	}
	if !g.thorough(left, depth) {
		g.spare(ofLeft)
		ofLeft = nil
	}
	return ofLeft, of
}

// spare takes back sums that are no longer in use, or nil.
func (g *grower) spare(of sums) {
	if of != nil {
		g.sums = append(g.sums, of)
	}
}

// middle returns the median target.
func (g *grower) middle(sown []seed) float32 {
	g.targets = resize(g.targets, len(sown))
	for i, s := range sown {
		g.targets[i] = s.target
	}
	slices.Sort(g.targets)
	return float32(g.targets[len(sown)/2]) / unit
}

// fork is a cut behind a bin of a feature. Its gain is by how much it lessens the sum of
// squared deviations; 0: there is no fork.
type fork struct {
	gain    float32
	feature int32
	bin     uint8
}

// contest is among the cuts of the same cases. It ends with the best of them.
type contest struct {
	best  fork
	cases int
	mean  float32 // of the deviations of the cases
	least int     // cases on each side of a cut
}

// judge considers a cut. The sum, as in sums, is that of the cases before it.
func (c *contest) judge(feature int32, bin uint8, sum int64) {
	before := int(sum & (1<<counting - 1))
	if before < c.least || c.cases-before < c.least {
		return
	}
	deviation := float32(sum>>counting) - c.mean*float32(before)
	if gain := deviation * deviation * (1/float32(before) + 1/float32(c.cases-before)); gain > c.best.gain {
		c.best = fork{gain, feature, bin}
	}
}

// few is the number of cases below which a histogram is not worth its bins.
const few = 48

// fork returns the cut that tells the targets of the cases apart best. With sums over
// all features it considers all cuts. Without, it considers those of some features drawn
// at random; among few cases, some cuts drawn at random of each of them.
func (g *grower) fork(sown []seed, of sums) (best fork) {
	if of != nil {
		return judgeAll(g.features, of, len(sown), g.how.least)
	}
	tries := g.features[:min(g.how.tries, len(g.features))]
	for i := range tries {
		j := i + g.rng.IntN(len(g.features)-i)
		g.features[i], g.features[j] = g.features[j], g.features[i]
	}
	if len(sown) < few {
		return g.forkFew(sown, tries)
	}
	apart := max(1, len(sown)/g.how.glance)
	glance := g.some[:0]
	for i := 0; i < len(sown); i += apart {
		glance = append(glance, sown[i])
	}
	g.some = glance
	of = g.count(glance, tries)
	defer g.spare(of)
	return judgeAll(tries, of, len(glance), max(1, g.how.least/apart))
}

// count returns the sums of the cases over some features.
func (g *grower) count(sown []seed, features []int32) sums {
	var of sums
	if last := len(g.sums) - 1; last >= 0 {
		of, g.sums = g.sums[last], g.sums[:last]
	}
	of = resize(of, len(features)*bins)
	clear(of)
	for _, s := range sown {
		codes := g.binned.codes[int(s.row)*g.cases.width:]
		one := int64(s.target-g.mean)<<counting + 1
		for i, f := range features {
			of[i*bins+int(codes[f]%bins)] += one
		}
	}
	return of
}

// judgeAll returns the best cut of n cases by some features, given their sums.
func judgeAll(features []int32, of sums, n, least int) fork {
	all := int64(0)
	for _, s := range of[:bins] {
		all += s
	}
	c := contest{cases: n, mean: float32(all>>counting) / float32(n), least: least}
	for i, f := range features {
		sum := int64(0)
		for bin, s := range of[i*bins:][:bins-1] {
			if sum += s; s != 0 {
				c.judge(f, uint8(bin), sum)
			}
		}
	}
	return c.best
}

// forkFew returns the best of some cuts drawn at random, three of each feature. A cut lies
// between the bins of two cases.
func (g *grower) forkFew(sown []seed, tries []int32) fork {
	c := contest{cases: len(sown), least: g.how.least}
	n, mean := uint64(len(sown)), mean(sown)
	g.few, g.codes = resize(g.few, len(sown)), resize(g.codes, len(sown))
	for i, s := range sown {
		g.few[i] = int64(s.target-mean)<<counting + 1
	}
	for _, f := range tries {
		for i, s := range sown {
			g.codes[i] = g.binned.codes[int(s.row)*g.cases.width+int(f)]
		}
		random := g.rng.Uint64()
		for range 3 {
			a, b := g.codes[random&0xffff*n>>16], g.codes[random>>16&0xffff*n>>16]
			random = random>>21 | random<<43
			if a == b {
				continue
			}
			bin := min(a, b) + uint8((random>>52)*uint64(max(a, b)-min(a, b))>>12)
			sum := int64(0)
			for i, code := range g.codes {
				// The sign becomes a mask instead of a branch that no processor could predict.
				sum += g.few[i] & ((int64(code) - int64(bin) - 1) >> 63)
			}
			c.judge(f, bin, sum)
		}
	}
	return c.best
}

// partition moves the cases before the cut to the front, and returns their number.
func (g *grower) partition(sown []seed, f fork) int {
	i, j := 0, len(sown)
	for i < j {
		if g.binned.codes[int(sown[i].row)*g.cases.width+int(f.feature)] <= f.bin {
			i++
		} else {
			j--
			sown[i], sown[j] = sown[j], sown[i]
		}
	}
	return i
}
