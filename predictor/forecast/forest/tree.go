package forest

import (
	"math/rand/v2"
	"slices"

	"github.com/varq-project/varq/predictor/delay"
)

// tree is a regression tree. Its root is nodes[0].
type tree struct {
	nodes  []node
	leaves []uint8 // delays as indices in delay's grid, leaf by leaf
	next   []uint8 // by node: the index, within the leaf, of the delay to replace next
	counts []counts
}

// counts are how many of the delays of a large leaf are at each point of delay's grid. Where most waits are equal, a leaf may have most
// cases of its tree.
type counts [delay.Points]int32

// large is the number of delays from which on a leaf is large.
const large = 2 * delay.Points

// node is a fork or, with a feature less than 0, a leaf.
type node struct {
	// feature is, in a leaf, -1 or, if it is large, -2 minus the index of its counts.
	feature int32
	// cut is, in a fork, the largest value of the feature that goes left. In a leaf it is
	// the median of the targets.
	cut float32
	// left and right are, in a fork, the indices of the children. In a leaf they are the
	// range [left, right) of its delays in tree.leaves.
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

// add adds to d the delays in the leaf that x falls into, which together weigh as much as weight.
func (t *tree) add(x []float32, d *delay.Distribution, weight float64) {
	n := &t.nodes[t.leaf(x)]
	share := weight / float64(n.right-n.left)
	if n.feature < -1 {
		for p, count := range t.counts[-2-n.feature] {
			d[p] += float64(count) * share
		}
		return
	}
	for _, p := range t.leaves[n.left:n.right] {
		d[p] += share
	}
}

// storeDelays stores in the leaves the delays of the cases that the tree was grown from.
func (t *tree) storeDelays(g *grower) {
	t.leaves, t.next = make([]uint8, len(g.samples)), make([]uint8, len(t.nodes))
	for i, s := range g.samples {
		t.leaves[i] = g.cases.point[s.row]
	}
	for i := range t.nodes {
		if n := &t.nodes[i]; n.feature < 0 && n.right-n.left >= large {
			n.feature = int32(-2 - len(t.counts))
			var c counts
			for _, p := range t.leaves[n.left:n.right] {
				c[p]++
			}
			t.counts = append(t.counts, c)
		}
	}
}

// refresh stores a delay in the leaf that x falls into. It overwrites the delays of the leaf
// in turn, from the first to the last or, in a larger leaf, to the 255th.
func (t *tree) refresh(x []float32, point uint8) {
	i := t.leaf(x)
	n, next := &t.nodes[i], &t.next[i]
	old := &t.leaves[n.left+int32(*next)]
	if n.feature < -1 {
		c := &t.counts[-2-n.feature]
		c[*old]--
		c[point]++
	}
	*old = point
	if *next++; int32(*next) == n.right-n.left || *next == 255 {
		*next = 0
	}
}

// unit is the number of steps that 1 is divided into in a target, a logarithm. Targets in
// these steps are added up as integers.
const unit = 4096

// counting is the number of low bits of a sum that count its cases. The other bits are the
// sum of their deviations.
const counting = 20

// sample is a case that a tree is grown from.
type sample struct {
	row    int32 // of the cases
	target int32 // in steps of 1/unit
}

// grower grows trees one after the other. They share its memory.
type grower struct {
	rng    *rand.Rand
	cases  *cases
	binned binned
	late   int     // how many of the last features may be 0 in all cases
	rows   []int32 // the cases to grow from
	how    growth

	samples  []sample // moved until they are in the order of the leaves
	nodes    []node
	mean     int32   // of all targets
	features []int32 // in any order

	// Scratch.
	free       []sums // for reuse
	glanced    []sample
	deviations []int64 // by sample, with a count of 1, as in sums
	codes      []uint8
	targets    []int32
}

// sums are a histogram: by feature and bin, the number of cases, and the sum of the
// deviations of their targets from a mean. Both numbers share an int64, as counting says.
type sums []int64

// use makes c the cases that trees are grown from.
func (g *grower) use(c *cases) {
	g.cases = c
	g.binned.bin(c, g.late)
}

// tree grows a tree from g.rows. It uses the given number of features, the first ones of the
// cases. Afterwards g.samples has the cases leaf by leaf. The cost is O(s f d), with s rows,
// f features tried for each fork, and a depth of d.
func (g *grower) tree(how growth, features int, target []float32) tree {
	g.how, g.nodes = how, g.nodes[:0]
	g.samples = resize(g.samples, len(g.rows))
	for i, row := range g.rows {
		g.samples[i] = sample{row, int32(target[row] * unit)}
	}
	g.features = g.features[:0]
	for f := range features {
		if !isLate(f, g.cases.width, g.late) || g.binned.edges[f].divide() {
			g.features = append(g.features, int32(f))
		}
	}
	g.mean = mean(g.samples)
	g.split(0, len(g.samples), 0, nil)
	return tree{nodes: slices.Clone(g.nodes)}
}

func mean(samples []sample) int32 {
	sum := 0
	for _, s := range samples {
		sum += int(s.target)
	}
	return int32(sum / len(samples))
}

func resize[T any](s []T, n int) []T { return slices.Grow(s[:0], n)[:n] }

// split grows the subtree of g.samples[from:to], and returns its root. of is nil or the
// sums of these samples over all features; split frees it.
func (g *grower) split(from, to, depth int, of sums) int32 {
	me := int32(len(g.nodes))
	samples := g.samples[from:to]
	g.nodes = append(g.nodes, node{})
	var f fork
	if g.mayFork(samples, depth) {
		if of == nil && g.triesAll(samples, depth) {
			of = g.count(samples, g.features)
		}
		f = g.bestFork(samples, of)
	}
	border := from
	if f.gain > 0 {
		border += g.partition(samples, f)
	}
	if border == from || border == to {
		g.release(of)
		g.nodes[me] = node{-1, g.median(samples), int32(from), int32(to)}
		return me
	}
	less, more := g.divide(g.samples[from:border], g.samples[border:to], depth+1, of)
	left := g.split(from, border, depth+1, less)
	right := g.split(border, to, depth+1, more)
	g.nodes[me] = node{f.feature, g.binned.edges[f.feature][f.bin], left, right}
	return me
}

// mayFork reports whether samples are enough for a fork and at a depth that allows one.
func (g *grower) mayFork(samples []sample, depth int) bool {
	return len(samples) >= 2*g.how.least && depth < g.how.depth
}

// triesAll reports whether samples at a depth may be forked by the best cut of all features,
// judged by all of the samples.
func (g *grower) triesAll(samples []sample, depth int) bool {
	return g.mayFork(samples, depth) && len(samples) >= leastCounted && g.how.tries >= len(g.features) && g.how.glance >= len(samples)
}

// divide returns the sums of the left and the right part of some samples, each nil if it is
// not needed. of is nil or the sums of both parts together. divide counts only the smaller
// part, and subtracts it from of for the larger one.
func (g *grower) divide(left, right []sample, depth int, of sums) (ofLeft, ofRight sums) {
	if of == nil {
		return nil, nil
	}
	if len(left) > len(right) {
		ofRight, ofLeft = g.divide(right, left, depth, of)
		return ofLeft, ofRight
	}
	if !g.triesAll(right, depth) {
		g.release(of)
		return nil, nil
	}
	ofLeft = g.count(left, g.features)
	for i, n := range ofLeft {
		of[i] -= n
	}
	if !g.triesAll(left, depth) {
		g.release(ofLeft)
		ofLeft = nil
	}
	return ofLeft, of
}

// release makes sums, unless nil, free for reuse.
func (g *grower) release(of sums) {
	if of != nil {
		g.free = append(g.free, of)
	}
}

// median returns the median target.
func (g *grower) median(samples []sample) float32 {
	g.targets = resize(g.targets, len(samples))
	for i, s := range samples {
		g.targets[i] = s.target
	}
	slices.Sort(g.targets)
	return float32(g.targets[len(samples)/2]) / unit
}

// fork is a cut of samples in two: those up to a bin of a feature, and those above. Its gain
// is by how much it reduces the sum of squared deviations. A gain of 0 means no fork.
type fork struct {
	gain    float32
	feature int32
	bin     uint8
}

// search finds the best of the cuts of the same samples.
type search struct {
	best  fork // the best cut considered so far
	cases int
	mean  float32 // of the deviations of the samples
	least int     // the least number of samples on each side of a cut
}

// consider takes a cut for the best if it is. sum, as in sums, is that of the samples up to
// the cut.
func (c *search) consider(feature int32, bin uint8, sum int64) {
	before := int(sum & (1<<counting - 1))
	if before < c.least || c.cases-before < c.least {
		return
	}
	deviation := float32(sum>>counting) - c.mean*float32(before)
	if gain := deviation * deviation * (1/float32(before) + 1/float32(c.cases-before)); gain > c.best.gain {
		c.best = fork{gain, feature, bin}
	}
}

// leastCounted is the least number of samples for which a histogram is worth its cost.
const leastCounted = 48

// bestFork returns the cut of the samples with the largest gain among those considered. If
// of has the sums over all features, all cuts are considered. Otherwise some features are
// drawn at random. All cuts of these are considered or, with less than leastCounted
// samples, some cuts drawn at random.
func (g *grower) bestFork(samples []sample, of sums) (best fork) {
	if of != nil {
		return bestForkOfAll(g.features, of, len(samples), g.how.least)
	}
	tries := g.features[:min(g.how.tries, len(g.features))]
	for i := range tries {
		j := i + g.rng.IntN(len(g.features)-i)
		g.features[i], g.features[j] = g.features[j], g.features[i]
	}
	if len(samples) < leastCounted {
		return g.bestForkOfFew(samples, tries)
	}
	apart := max(1, len(samples)/g.how.glance)
	glance := g.glanced[:0]
	for i := 0; i < len(samples); i += apart {
		glance = append(glance, samples[i])
	}
	g.glanced = glance
	of = g.count(glance, tries)
	defer g.release(of)
	return bestForkOfAll(tries, of, len(glance), max(1, g.how.least/apart))
}

// count returns the sums of samples over some features.
func (g *grower) count(samples []sample, features []int32) sums {
	var of sums
	if last := len(g.free) - 1; last >= 0 {
		of, g.free = g.free[last], g.free[:last]
	}
	of = resize(of, len(features)*bins)
	clear(of)
	for _, s := range samples {
		codes := g.binned.codes[int(s.row)*g.cases.width:]
		one := int64(s.target-g.mean)<<counting + 1
		for i, f := range features {
			of[i*bins+int(codes[f]%bins)] += one
		}
	}
	return of
}

// bestForkOfAll returns the best of all cuts of n samples by some features, given the sums
// of the samples over these features.
func bestForkOfAll(features []int32, of sums, n, least int) fork {
	all := int64(0)
	for _, s := range of[:bins] {
		all += s
	}
	c := search{cases: n, mean: float32(all>>counting) / float32(n), least: least}
	for i, f := range features {
		sum := int64(0)
		for bin, s := range of[i*bins:][:bins-1] {
			if sum += s; s != 0 {
				c.consider(f, uint8(bin), sum)
			}
		}
	}
	return c.best
}

// bestForkOfFew returns the best of some cuts of few samples. It draws three cuts of each
// feature at random, each between the bins of two samples.
func (g *grower) bestForkOfFew(samples []sample, tries []int32) fork {
	c := search{cases: len(samples), least: g.how.least}
	n, mean := uint64(len(samples)), mean(samples)
	g.deviations, g.codes = resize(g.deviations, len(samples)), resize(g.codes, len(samples))
	for i, s := range samples {
		g.deviations[i] = int64(s.target-mean)<<counting + 1
	}
	for _, f := range tries {
		for i, s := range samples {
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
				sum += g.deviations[i] & ((int64(code) - int64(bin) - 1) >> 63)
			}
			c.consider(f, bin, sum)
		}
	}
	return c.best
}

// partition moves the samples up to the cut to the front, and returns their number.
func (g *grower) partition(samples []sample, f fork) int {
	i, j := 0, len(samples)
	for i < j {
		if g.binned.codes[int(samples[i].row)*g.cases.width+int(f.feature)] <= f.bin {
			i++
		} else {
			j--
			samples[i], samples[j] = samples[j], samples[i]
		}
	}
	return i
}
