package forest

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/varq-project/varq/predictor/delay"
)

// some returns n cases, and a grower of all of them. The first features have few different
// values.
func some(n int, how growth, random *rand.Rand) (*cases, *grower) {
	c := cases{width: 6}
	x := make([]float32, c.width)
	g := &grower{rng: random, how: how, binned: new(binned), cases: &c}
	for i := range n {
		for f := range x {
			x[f] = float32(math.Floor(float64(random.Float32())*math.Pow(10, float64(f)))) - 3
		}
		c.push(x, 5+x[2]/100+random.Float32(), 0)
		g.rows = append(g.rows, int32(i))
	}
	g.binned.bin(&c)
	for f := range c.width {
		g.features = append(g.features, int32(f))
	}
	g.gather(c.target)
	return &c, g
}

// TestEdges: values lie in the bins that the edges define. If values differ, about as many
// of them lie in each bin. Equal values lie in the same bin.
func TestEdges(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	for _, different := range []int{1, 2, 63, 64, 65, 1000} {
		values := make([]float32, 6400)
		for i := range values {
			values[i] = float32(random.IntN(different))
		}
		slices.Sort(values)
		var e edges
		e.draw(values)
		count := [bins]int{}
		for _, v := range append(values, -1, 1e9) {
			bin, want := e.bin(v), 0
			for want < bins-1 && v > e[want] {
				want++
			}
			if int(bin) != want {
				t.Fatalf("%v of %d values lies in %d, want %d", v, different, bin, want)
			}
			count[bin]++
		}
		if different >= 1000 {
			if least, most := slices.Min(count[:]), slices.Max(count[:]); least < 50 || most > 150 {
				t.Errorf("%d to %d of 6400 values lie in one of %d bins", least, most, bins)
			}
		} else if filled := bins - len(slices.DeleteFunc(count[:], func(n int) bool { return n != 0 })); filled < 9*min(different, bins)/10 {
			t.Errorf("%d values lie in %d bins", different, filled)
		}
	}
}

// TestForkIsBest compares the cut that histograms find with all possible cuts.
func TestForkIsBest(t *testing.T) {
	for n := range uint64(20) {
		random := rand.New(rand.NewPCG(n, 1))
		how := growth{least: 1 + int(n), tries: 6, glance: math.MaxInt}
		c, g := some(60+int(50*n), how, random)
		got := g.bestFork(g.samples)
		best, least := 0., float64(how.least)
		for f := range c.width {
			for bin := range bins - 1 {
				if gain := gain(g, g.samples, f, uint8(bin), least); gain > best {
					best = gain
				}
			}
		}
		if found := gain(g, g.samples, int(got.feature), got.bin, least); math.Abs(found-best) > best/1000 {
			t.Errorf("%d cases: a cut that gains %v, the best gains %v", len(g.samples), found, best)
		}
	}
}

// gain returns by how much a cut reduces the sum of squared deviations, or 0 if a side has
// fewer than least samples.
func gain(g *grower, samples []sample, feature int, bin uint8, least float64) float64 {
	var n, sum, squares [2]float64
	for _, s := range samples {
		side := 0
		if g.cases.row(int(s.row))[feature] > g.binned.edges[feature][bin] {
			side = 1
		}
		y := float64(s.target)
		n[side]++
		sum[side] += y
		squares[side] += y * y
	}
	if n[0] < least || n[1] < least {
		return 0
	}
	deviations := func(n, sum, squares float64) float64 { return squares - sum*sum/n }
	return deviations(n[0]+n[1], sum[0]+sum[1], squares[0]+squares[1]) -
		deviations(n[0], sum[0], squares[0]) - deviations(n[1], sum[1], squares[1])
}

// TestLeavesStoreDelays: the leaf that a case falls into stores the case's delay. No leaf
// has fewer delays than how.least, or is deeper than how.depth.
func TestLeavesStoreDelays(t *testing.T) {
	for n := range uint64(10) {
		how := growth{least: 4, tries: 3, glance: 64, depth: 7}
		c, g := some(500, how, rand.New(rand.NewPCG(n, 2)))
		for i := range c.point {
			c.point[i] = uint8(i % 127)
		}
		grown := g.tree(how, c.width, c.target).tree
		grown.storeDelays(g)
		if len(grown.leaves) != 500 {
			t.Fatalf("%d delays of 500 cases", len(grown.leaves))
		}
		for i := range c.n {
			n := &grown.nodes[grown.leaf(c.row(i))]
			points := grown.leaves[n.left:n.right]
			if !slices.Contains(points, c.point[i]) {
				t.Fatalf("the delay of case %d is not in its leaf", i)
			}
			if len(points) < how.least {
				t.Errorf("a leaf of %d", len(points))
			}
		}
		if deep := depth(&grown, 0); deep > how.depth {
			t.Errorf("a leaf at a depth of %d", deep)
		}
	}
}

func depth(t *tree, i int32) int {
	if n := t.nodes[i]; n.feature >= 0 {
		return 1 + max(depth(t, n.left), depth(t, n.right))
	}
	return 0
}

// TestRefresh: new delays overwrite the delays of their leaf in turn, and no others.
func TestRefresh(t *testing.T) {
	grown := tree{
		nodes:  []node{{0, .5, 1, 2}, {-1, 0, 0, 3}, {-1, 0, 3, 5}},
		leaves: []uint8{1, 2, 3, 4, 5},
		next:   make([]uint8, 3),
	}
	for point := range uint8(4) {
		grown.refresh(grown.leaf([]float32{0}), 10+point)
	}
	grown.refresh(grown.leaf([]float32{1}), 20)
	if want := []uint8{13, 11, 12, 20, 5}; !slices.Equal(grown.leaves, want) {
		t.Errorf("leaves %v, want %v", grown.leaves, want)
	}
}

// TestLargeLeaves: what a tree adds is what is in the leaf, whether that is large or not, also
// after new delays have overwritten old ones.
func TestLargeLeaves(t *testing.T) {
	random := rand.New(rand.NewPCG(8, 8))
	how := growth{least: 4, tries: 3, glance: 64, depth: 2}
	c, g := some(2000, how, random)
	grown := g.tree(how, c.width, c.target).tree
	grown.storeDelays(g)
	for range 5000 {
		grown.refresh(grown.leaf(c.row(random.IntN(c.n))), uint8(random.IntN(delay.Points)))
	}
	sizes := map[bool]int{}
	for i := range c.n {
		n := &grown.nodes[grown.leaf(c.row(i))]
		sizes[n.right-n.left >= large]++
		var want, got delay.Distribution
		for _, p := range grown.leaves[n.left:n.right] {
			want[p] += .5 / float64(n.right-n.left)
		}
		grown.add(grown.leaf(c.row(i)), &got, .5)
		for p := range want {
			if math.Abs(got[p]-want[p]) > 1e-12 {
				t.Fatalf("point %d: %v, want %v", p, got[p], want[p])
			}
		}
	}
	if sizes[true] == 0 || len(grown.counts) == 0 {
		t.Errorf("no large leaf among %v", sizes)
	}
}

// TestLeaves: walking down several trees at once ends where walking down each by itself ends.
func TestLeaves(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 9))
	for n := range 2*together + 2 {
		var trees []*tree
		var c *cases
		for range n {
			how := growth{least: 2, tries: 3, glance: 64, depth: random.IntN(9)}
			of, g := some(500, how, random)
			grown := g.tree(how, of.width, of.target)
			trees, c = append(trees, &grown.tree), of
		}
		for range 50 {
			i := 0
			var x []float32
			if n > 0 {
				x = c.row(random.IntN(c.n))
			}
			for tree, leaf := range leaves(trees, x) {
				if tree != trees[i] || leaf != tree.leaf(x) {
					t.Fatalf("tree %d of %d: leaf %d, want %d", i, n, leaf, tree.leaf(x))
				}
				i++
			}
			if i != n {
				t.Fatalf("%d trees of %d", i, n)
			}
		}
	}
}
