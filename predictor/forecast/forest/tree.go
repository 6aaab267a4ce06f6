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
	fell   falls // of a boosted tree
}

// counts are how many of the delays of a large leaf are at each point of delay's grid. Where most
// waits are equal, a leaf may have most cases of its tree.
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

// add adds to d the delays in a leaf, which together weigh as much as weight.
func (t *tree) add(leaf int32, d *delay.Distribution, weight float64) {
	n := &t.nodes[leaf]
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
		t.leaves[i] = g.cases.point[g.different[s.row]]
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

// refresh stores a delay in a leaf. It overwrites the delays of the leaf
// in turn, from the first to the last or, in a larger leaf, to the 255th.
func (t *tree) refresh(leaf int32, point uint8) {
	n, next := &t.nodes[leaf], &t.next[leaf]
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
	row    int32 // the place among the different rows of a grower
	target int32 // in steps of 1/unit
}

// grower grows trees one after the other. They share its memory.
type grower struct {
	rng    *rand.Rand
	cases  *cases
	binned *binned
	rows   []int32 // the cases to grow from
	how    growth

	different []int32  // the different ones of rows, ascending
	samples   []sample // moved until they are in the order of the leaves
	gathered  []uint8  // their bins, by column and by place in different
	room      int      // of a column, for the bins of so many
	nodes     []node
	mean      int32   // of all targets
	features  []int32 // in any order
	bins      []uint8 // by node: the bin of a fork's cut

	// Scratch.
	set        rowSet
	places     []int32 // by row: the place in different
	sums       sums
	glanced    []sample
	deviations []int64 // by sample, with a count of 1, as in sums
	targets    []int32
}

// tree grows a tree from g.rows. It uses the given number of features, the first ones of the
// cases. Afterwards g.samples has the cases leaf by leaf. The cost is O(s f d), with s rows,
// f features tried for each fork, and a depth of d.
func (g *grower) tree(how growth, features int, target []float32) grown {
	g.how, g.nodes, g.bins = how, g.nodes[:0], g.bins[:0]
	g.gather(target)
	g.features = g.features[:0]
	for f := range features {
		if g.binned.tells(f) {
			g.features = append(g.features, int32(f))
		}
	}
	g.mean = mean(g.samples)
	g.split(0, len(g.samples), 0)
	return grown{tree{nodes: slices.Clone(g.nodes)}, slices.Clone(g.bins)}
}

// gather makes samples of g.rows. Their bins in a column lie next to one another, so that they are
// near while the tree grows. They are read in the order of the cases, as most of them would be far
// otherwise.
func (g *grower) gather(target []float32) {
	g.different = g.set.take(g.rows, g.different)
	g.places = resize(g.places, window)
	for place, row := range g.different {
		g.places[row] = int32(place)
	}
	g.samples = resize(g.samples, len(g.rows))
	for i, row := range g.rows {
		g.samples[i] = sample{g.places[row], int32(target[row] * unit)}
	}
	g.room = (len(g.different) + wide - 1) / wide * wide
	g.gathered = resize(g.gathered, g.binned.blocks()*wide*g.room)
	for k := range g.binned.blocks() {
		g.gatherBlock(g.binned.block(k), g.gathered[k*wide*g.room:])
	}
}

// gatherBlock stores the bins in the columns of a block.
func (g *grower) gatherBlock(block []word, columns []uint8) {
	for from := 0; from < len(g.different); from += wide {
		var square [wide]word
		for i, row := range g.different[from:min(from+wide, len(g.different))] {
			square[i] = block[row]
		}
		transpose(&square)
		for i, w := range square {
			w.put(columns[i*g.room+from:])
		}
	}
}

// transpose swaps the bytes of eight words so that the first word has the first byte of each, and
// so on.
func transpose(w *[wide]word) {
	for i := range 4 {
		w[i], w[i+4] = swap(w[i], w[i+4], 32, 0xffffffff)
	}
	for _, i := range [...]int{0, 1, 4, 5} {
		w[i], w[i+2] = swap(w[i], w[i+2], 16, 0xffff0000ffff)
	}
	for i := 0; i < wide; i += 2 {
		w[i], w[i+1] = swap(w[i], w[i+1], 8, 0xff00ff00ff00ff)
	}
}

// swap swaps what is, shifted, in the mask in a with what is in the mask in b.
func swap(a, b word, shift uint, mask word) (word, word) {
	differ := (a>>shift ^ b) & mask
	return a ^ differ<<shift, b ^ differ
}

// column returns the bins in the column of a feature, by place in g.different.
func (g *grower) column(feature int32) []uint8 {
	return g.gathered[int(g.binned.column[feature])*g.room:][:g.room]
}

func mean(samples []sample) int32 {
	sum := 0
	for _, s := range samples {
		sum += int(s.target)
	}
	return int32(sum / len(samples))
}

func resize[T any](s []T, n int) []T { return slices.Grow(s[:0], n)[:n] }

// split grows the subtree of g.samples[from:to], and returns its root.
func (g *grower) split(from, to, depth int) int32 {
	me := int32(len(g.nodes))
	samples := g.samples[from:to]
	g.nodes, g.bins = append(g.nodes, node{}), append(g.bins, 0)
	var f fork
	if len(samples) >= 2*g.how.least && depth < g.how.depth {
		f = g.bestFork(samples)
	}
	border := from
	if f.gain > 0 {
		border += g.partition(samples, f)
	}
	if border == from || border == to {
		g.nodes[me] = node{-1, g.median(samples), int32(from), int32(to)}
		return me
	}
	g.bins[me] = f.bin
	left := g.split(from, border, depth+1)
	right := g.split(border, to, depth+1)
	g.nodes[me] = node{f.feature, g.binned.edges[f.feature][f.bin], left, right}
	return me
}

// grown is a tree with the bins of its cuts, by node.
type grown struct {
	tree
	bins []uint8
}

// median returns the median target.
func (g *grower) median(samples []sample) float32 {
	g.targets = resize(g.targets, len(samples))
	for i, s := range samples {
		g.targets[i] = s.target
	}
	return float32(middle(g.targets)) / unit
}

// fork is a cut of samples in two: those up to a bin of a feature, and those above. Its gain
// is by how much it reduces the sum of squared deviations. A gain of 0 means no fork.
type fork struct {
	gain    float32
	feature int32
	bin     uint8
	cases   int // up to the cut
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
	after := c.cases - before
	if before < c.least || after < c.least {
		return
	}
	deviation := float32(sum>>counting) - c.mean*float32(before)
	// A table of inverses would take longer than the divisions: what trees read between two forks
	// drives it from the nearest caches.
	if gain := deviation * deviation * (1/float32(before) + 1/float32(after)); gain > c.best.gain {
		c.best = fork{gain, feature, bin, before}
	}
}

// leastCounted is the least number of samples for which a histogram is worth its cost.
const leastCounted = 48

// bestFork returns the cut of the samples with the largest gain among those considered. Some
// features are drawn at random. All cuts of these are considered or, with less than leastCounted
// samples, some cuts drawn at random.
func (g *grower) bestFork(samples []sample) fork {
	tries := g.features[:min(g.how.tries, len(g.features))]
	for i := range tries {
		j := i + g.rng.IntN(len(g.features)-i)
		g.features[i], g.features[j] = g.features[j], g.features[i]
	}
	if len(samples) < leastCounted {
		return g.bestForkOfFew(samples, tries)
	}
	apart := max(1, len(samples)/g.how.glance)
	if apart > 1 {
		g.glanced = g.glanced[:0]
		for i := 0; i < len(samples); i += apart {
			g.glanced = append(g.glanced, samples[i])
		}
		samples = g.glanced
	}
	return bestForkOfAll(tries, g.count(samples, tries), len(samples), max(1, g.how.least/apart))
}

// count returns the sums of samples over some features, in their order.
func (g *grower) count(samples []sample, features []int32) sums {
	of := resize(g.sums, (len(features)+abreast-1)/abreast*abreast*bins)
	g.sums = of
	clear(of)
	for k := 0; k < len(features); k += abreast {
		var columns [abreast][]uint8
		for i := range columns {
			// nobody reads the sums of one that is there again
			columns[i] = g.column(features[min(k+i, len(features)-1)])
		}
		g.countAbreast(samples, &columns, (*[abreast * bins]int64)(of[k*bins:]))
	}
	return of
}

// countAbreast adds the sums of samples over some columns to those in of.
func (g *grower) countAbreast(samples []sample, columns *[abreast][]uint8, of *[abreast * bins]int64) {
	a := columns[0]
	b, c, d := columns[1][:len(a)], columns[2][:len(a)], columns[3][:len(a)]
	for i := range samples {
		s := &samples[i]
		place, one := s.row, int64(s.target-g.mean)<<counting+1
		of[a[place]%bins] += one
		of[1*bins+int(b[place]%bins)] += one
		of[2*bins+int(c[place]%bins)] += one
		of[3*bins+int(d[place]%bins)] += one
	}
}

// abreast is how many columns count counts at once.
const abreast = 4

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
	g.deviations = resize(g.deviations, len(samples))
	for i, s := range samples {
		g.deviations[i] = int64(s.target-mean)<<counting + 1
	}
	for _, f := range tries {
		column := g.column(f)
		random := g.rng.Uint64()
		var cuts [cutsOfFew]int64
		k := 0
		for range cutsOfFew {
			a, b := column[samples[random&0xffff*n>>16].row], column[samples[random>>16&0xffff*n>>16].row]
			random = random>>21 | random<<43
			if a != b {
				cuts[k] = int64(min(a, b) + uint8((random>>52)*uint64(max(a, b)-min(a, b))>>12))
				k++
			}
		}
		if k == 0 {
			continue
		}
		sums := g.sumsOfFew(samples, column, &cuts)
		for i, cut := range cuts[:k] {
			c.consider(f, uint8(cut), sums[i])
		}
	}
	return c.best
}

// cutsOfFew is how many cuts of a feature bestForkOfFew draws.
const cutsOfFew = 3

// sumsOfFew returns, for each of some cuts of a column, the sum of the deviations of the samples up
// to it.
func (g *grower) sumsOfFew(samples []sample, column []uint8, cuts *[cutsOfFew]int64) (sums [cutsOfFew]int64) {
	deviations := g.deviations[:len(samples)]
	a, b, c := int64(0), int64(0), int64(0)
	for i := range samples {
		// The sign becomes a mask instead of a branch that no processor could predict.
		bin, deviation := int64(column[samples[i].row])-1, deviations[i]
		a += deviation & ((bin - cuts[0]) >> 63)
		b += deviation & ((bin - cuts[1]) >> 63)
		c += deviation & ((bin - cuts[2]) >> 63)
	}
	return [cutsOfFew]int64{a, b, c}
}

// partition moves the samples up to the cut to the front, and returns their number.
func (g *grower) partition(samples []sample, f fork) int {
	i, j := 0, len(samples)
	column := g.column(f.feature)
	for i < j {
		if column[samples[i].row] <= f.bin {
			i++
		} else {
			j--
			samples[i], samples[j] = samples[j], samples[i]
		}
	}
	return i
}
