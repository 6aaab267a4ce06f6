package forest

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// plain is the slow tree that greedy's are compared with: each fork is the first of the best cuts
// by the features in their order.
type plain struct {
	cases  *cases
	binned *binned
	how    growth
	mean   int
}

// leaves returns for each of the samples, by row, which may come more than once, the median of its
// leaf.
func (p *plain) leaves(samples []sample, depth int, medians map[int32]float32) {
	var best fork
	n := len(samples)
	if n >= 2*p.how.least && depth < p.how.depth {
		for f := range p.cases.width - 1 {
			for bin := range bins - 1 {
				before, sum, all := 0, 0, 0
				for _, s := range samples {
					deviation := int(s.target) - p.mean
					all += deviation
					if p.cases.row(int(s.row))[f] <= p.binned.edges[f][bin] {
						before, sum = before+1, sum+deviation
					}
				}
				if before < p.how.least || n-before < p.how.least {
					continue
				}
				deviation := float32(sum) - float32(all)/float32(n)*float32(before)
				if gain := deviation * deviation * (1/float32(before) + 1/float32(n-before)); gain > best.gain {
					best = fork{gain: gain, feature: int32(f), bin: uint8(bin)}
				}
			}
		}
	}
	if best.gain == 0 {
		targets := make([]int32, n)
		for i, s := range samples {
			targets[i] = s.target
		}
		slices.Sort(targets)
		for _, s := range samples {
			medians[s.row] = float32(targets[n/2]) / unit
		}
		return
	}
	var left, right []sample
	for _, s := range samples {
		if p.cases.row(int(s.row))[best.feature] <= p.binned.edges[best.feature][best.bin] {
			left = append(left, s)
		} else {
			right = append(right, s)
		}
	}
	p.leaves(left, depth+1, medians)
	p.leaves(right, depth+1, medians)
}

// TestGreedyIsPlain compares greedy's trees with plain's. Some features are equal to others or to a
// constant, and a row may be drawn more than once.
func TestGreedyIsPlain(t *testing.T) {
	for seed := range uint64(12) {
		random := rand.New(rand.NewPCG(seed, 3))
		c, b := alikeCases(2000, random), new(binned)
		b.bin(c)
		if len(b.distinct) != 5 {
			t.Fatalf("columns of the features %v", b.distinct)
		}
		how := growth{sample: 900, least: 5 + random.IntN(60), tries: math.MaxInt, glance: math.MaxInt, depth: random.IntN(6)}
		var rows []int32
		p := &plain{cases: c, binned: b, how: how}
		var samples []sample
		for range how.sample {
			row := int32(random.IntN(c.n))
			rows = append(rows, row)
			samples = append(samples, sample{row, int32(c.target[row] * unit)})
			p.mean += int(samples[len(samples)-1].target)
		}
		p.mean /= len(rows)
		want := map[int32]float32{}
		p.leaves(samples, 0, want)
		g := greedy{binned: b}
		got := g.tree(how, rows, c.target, g.median)
		for row, median := range want {
			if value := got.value(c.row(int(row))); value != median {
				t.Fatalf("seed %d: row %d: %v, want %v", seed, row, value, median)
			}
		}
	}
}

// alikeCases returns n cases of 8 features and a prediction. The third is a constant as the sixth
// is, the fifth is as the first, and the seventh lies always in the same bin as the second.
func alikeCases(n int, random *rand.Rand) *cases {
	c := &cases{width: 9}
	for range n {
		x := make([]float32, c.width)
		for f := range x {
			x[f] = float32(random.IntN(1 + 20*(f+1)))
		}
		x[2], x[5], x[4], x[6] = 7, -1, x[0], x[1]
		c.push(x, 8+x[0]/30+x[7]/100+random.Float32(), 0)
	}
	return c
}

// TestColumnsPart: features no longer share a column once a case lies in different bins of them,
// and no code is lost then.
func TestColumnsPart(t *testing.T) {
	random := rand.New(rand.NewPCG(4, 4))
	c, b := alikeCases(3000, random), new(binned)
	check := func(columns int) {
		t.Helper()
		b.bin(c)
		if len(b.distinct) != columns {
			t.Errorf("columns of the features %v", b.distinct)
		}
		for i := range c.n {
			for f, v := range c.row(i) {
				if got := b.at(b.column[f]).code(b.codes, int32(i)); got != b.edges[f].bin(v) {
					t.Fatalf("case %d lies in bin %d of feature %d, want %d", i, got, f, b.edges[f].bin(v))
				}
			}
		}
	}
	check(5)
	for _, row := range []int{0, 1} {
		c.push(c.row(row), 8, 0)
	}
	check(5)
	apart := slices.Clone(c.row(0))
	apart[4] += 10
	c.push(apart, 8, 0)
	check(6)
}

// TestWalk: a walk by bins ends in the leaf in which one by values ends.
func TestWalk(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 5))
	c, b := alikeCases(2000, random), new(binned)
	b.bin(c)
	g := greedy{binned: b}
	for depth := range 7 {
		var rows []int32
		for i := range int32(1500) {
			rows = append(rows, i)
		}
		grown := g.tree(growth{least: 4, depth: depth}, rows, c.target, g.median)
		var w walk
		w.load(&grown, b)
		for i := range c.n {
			if got, want := int32(w.leaf(int32(i))), grown.leaf(c.row(i)); got != want {
				t.Fatalf("depth %d, case %d: leaf %d, want %d", depth, i, got, want)
			}
		}
	}
}

// TestMiddle: middle finds what sorting finds.
func TestMiddle(t *testing.T) {
	random := rand.New(rand.NewPCG(6, 6))
	for n := 1; n < 400; n++ {
		list := make([]int32, n)
		for i := range list {
			list[i] = int32(random.IntN(1 + random.IntN(n)))
		}
		sorted := slices.Sorted(slices.Values(list))
		if got := middle(list); got != sorted[n/2] {
			t.Fatalf("%d in the middle of %v", got, sorted)
		}
	}
}

// TestResiduals: a residual is what the trees leave of a target, however many trees have come and
// gone since its case was new.
func TestResiduals(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 7))
	effort := Effort{
		period: 10, trees: 3, boosted: 12, perPeriod: 2, recent: 700, refreshShare: .1,
		forest: growth{200, 8, 4, 64, 5}, boost: growth{500, 20, math.MaxInt, math.MaxInt, 4},
	}
	m, x := New(8, effort, random, nil), make([]float32, 8)
	for range 2500 {
		draw(x, random)
		m.Learn(m.Case(x), steep(x)*random.ExpFloat64())
		m.Grow()
	}
	m.install() // the residuals are those of the trees that have just grown
	known := 0
	for age := range effort.recent {
		i := m.cases.at(age)
		if m.boost.known[i] != m.cases.pushed-uint64(age) {
			continue
		}
		known++
		want := m.cases.target[i] - m.boost.predict(m.cases.row(i)[:8])
		if got := m.boost.residual[i]; math.Abs(float64(got-want)) > 1e-4 {
			t.Fatalf("a residual of %v, want %v", got, want)
		}
	}
	if known < effort.recent-2*effort.period {
		t.Errorf("%d residuals", known)
	}
}
