package forest

import (
	"math/rand/v2"
	"slices"
)

// tree is a regression tree; nodes[0] is its root.
type tree struct {
	nodes  []node
	leaves []uint8 // points of delays, leaf by leaf
	oldest []uint8 // by node: which of a leaf's delays is replaced next
}

// node is a fork or, with feature -1, a leaf.
type node struct {
	feature int32
	cut     float32 // up to it left; in a leaf the middle of the targets
	// left and right are the children; in a leaf the range of its cases.
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

// value returns the middle of the targets in the leaf that x falls into.
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

// unit is into how many steps a logarithm is divided to be added up as integers.
const unit = 4096

// counting is how many bits of a sum of deviations count how many they are.
const counting = 20

// seed is a case that a tree is grown from.
type seed struct{ row, target int32 } // in steps of 1/unit

// grower grows trees; its memory serves one after the other.
type grower struct {
	rng   *rand.Rand
	rows  []int32 // the cases to grow from
	cases *cases
	how   growth

	sown     []seed // leaf by leaf
	nodes    []node
	features []int32 // in any order
	sums     []int64 // by bin: deviations from the mean target, and how many
	few      []int64 // the same by case
	codes    []uint8
	targets  []int32
}

// tree grows a tree from g.rows, by the first so many features of the cases; g.sown
// then has the cases of its leaves. Histograms of binned features make it O(s f d)
// with a sample of s, f features looked at in each fork and a depth of d.
func (g *grower) tree(c *cases, how growth, features int, target []float32) tree {
	g.cases, g.how, g.nodes = c, how, g.nodes[:0]
	g.sown = resize(g.sown, len(g.rows))
	for i, row := range g.rows {
		g.sown[i] = seed{row, int32(target[row] * unit)}
	}
	g.features = resize(g.features, features)
	for f := range g.features {
		g.features[f] = int32(f)
	}
	g.split(0, len(g.sown), 0)
	return tree{nodes: slices.Clone(g.nodes)}
}

func resize[T any](s []T, n int) []T { return slices.Grow(s[:0], n)[:n] }

// split grows the subtree of the cases sown[from:to].
func (g *grower) split(from, to, depth int) int32 {
	me := int32(len(g.nodes))
	sown := g.sown[from:to]
	g.nodes = append(g.nodes, node{})
	var f fork
	if len(sown) >= 2*g.how.least && depth < g.how.depth {
		f = g.fork(sown)
	}
	middle := from
	if f.gain > 0 {
		middle += g.partition(sown, f)
	}
	if middle == from || middle == to {
		g.nodes[me] = node{-1, g.middle(sown), int32(from), int32(to)}
		return me
	}
	left := g.split(from, middle, depth+1)
	right := g.split(middle, to, depth+1)
	g.nodes[me] = node{f.feature, g.cases.edges[f.feature][f.bin], left, right}
	return me
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

// fork is a cut behind a bin of a feature, and by how much it lessens squared
// deviations.
type fork struct {
	gain    float32
	feature int32
	bin     uint8
}

// judge considers a cut before which lies a sum of deviations, which of all n add up
// to 0.
func judge(best *fork, f int32, bin uint8, sum int64, n, least int) {
	before := int(sum & (1<<counting - 1))
	if before < least || n-before < least {
		return
	}
	deviation := float32(sum >> counting)
	if gain := deviation * deviation * (1/float32(before) + 1/float32(n-before)); gain > best.gain {
		*best = fork{gain, f, bin}
	}
}

// fork returns a cut that tells the targets of the cases apart, by one of some
// features drawn at random: the best, or among few cases the best of some cuts drawn
// at random. Its gain is 0 if none tells anything.
func (g *grower) fork(sown []seed) fork {
	tries := g.features[:min(g.how.tries, len(g.features))]
	for i := range tries {
		j := i + g.rng.IntN(len(g.features)-i)
		g.features[i], g.features[j] = g.features[j], g.features[i]
	}
	const few = 48
	if len(sown) < few {
		return g.forkFew(sown, tries)
	}
	return g.forkMany(sown, tries)
}

func (g *grower) forkMany(sown []seed, tries []int32) (best fork) {
	apart := max(1, len(sown)/g.how.glance)
	n, sum := 0, 0
	for i := 0; i < len(sown); i += apart {
		sum += int(sown[i].target)
		n++
	}
	mean, least := int64(sum/n), max(1, g.how.least/apart)
	g.sums = resize(g.sums, len(tries)*bins)
	clear(g.sums)
	for k := 0; k < len(sown); k += apart {
		s := sown[k]
		codes := g.cases.codes[int(s.row)*g.cases.width:]
		one := (int64(s.target)-mean)<<counting + 1
		for i, f := range tries {
			g.sums[i*bins+int(codes[f]%bins)] += one
		}
	}
	for i, f := range tries {
		sum := int64(0)
		for bin, s := range g.sums[i*bins:][:bins-1] {
			if sum += s; s != 0 {
				judge(&best, f, uint8(bin), sum, n, least)
			}
		}
	}
	return best
}

func (g *grower) forkFew(sown []seed, tries []int32) (best fork) {
	n, sum := uint64(len(sown)), 0
	for _, s := range sown {
		sum += int(s.target)
	}
	mean := int64(sum / len(sown))
	g.few, g.codes = resize(g.few, len(sown)), resize(g.codes, len(sown))
	for i, s := range sown {
		g.few[i] = (int64(s.target)-mean)<<counting + 1
	}
	for _, f := range tries {
		for i, s := range sown {
			g.codes[i] = g.cases.codes[int(s.row)*g.cases.width+int(f)]
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
			for i, c := range g.codes {
				// No branch, as no processor could guess it: the sign becomes a mask.
				sum += g.few[i] & ((int64(c) - int64(bin) - 1) >> 63)
			}
			judge(&best, f, bin, sum, len(sown), g.how.least)
		}
	}
	return best
}

// partition moves the cases before the cut to the front, and returns their number.
func (g *grower) partition(sown []seed, f fork) int {
	i, j := 0, len(sown)
	for i < j {
		if g.cases.codes[int(sown[i].row)*g.cases.width+int(f.feature)] <= f.bin {
			i++
		} else {
			j--
			sown[i], sown[j] = sown[j], sown[i]
		}
	}
	return i
}
