package joint

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/varq-project/varq/test/thorough"
)

// group returns a group with sets of these sizes and random probabilities. Each member has a site
// of its own.
func group(random *rand.Rand, sizes ...int) Group {
	var g Group
	site := 0
	for _, size := range sizes {
		var set []Member
		for range size {
			set = append(set, Member{fmt.Sprint(site), .02 + .96*random.Float64()})
			site++
		}
		g = append(g, set)
	}
	return g
}

// equal returns the same correlation for all sites.
func equal(r float64) Correlation { return func(string, string) float64 { return r } }

// slowEqual returns the probability of a group's success if all correlations are r >= 0. All scores
// then share one common factor. slowEqual integrates the conditional probability over this factor.
func slowEqual(g Group, r float64) float64 {
	const n, far = 20_000, 9.
	sum, total := 0., 0.
	for i := range n {
		factor := (2*(float64(i)+.5)/n - 1) * far
		given := Group{}
		for _, set := range g {
			var members []Member
			for _, m := range set {
				members = append(members, Member{m.Site, cdf((quantile(m.Prob) - math.Sqrt(r)*factor) / math.Sqrt(1-r))})
			}
			given = append(given, members)
		}
		density := math.Exp(-factor * factor / 2)
		sum, total = sum+density*given.Independent(), total+density
	}
	return sum / total
}

// structures are sizes of sets.
var structures = map[string][]int{
	"any of 2": {2}, "any of 3": {3}, "any of 8": {8}, "any of 16": {16},
	"all of 2": {1, 1}, "all of 3": {1, 1, 1}, "all of 8": {1, 1, 1, 1, 1, 1, 1, 1}, "all of 16": {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1},
	"2 and 1": {2, 1}, "2 and 2": {2, 2}, "1 and 4 and 3": {1, 4, 3}, "four times 4": {4, 4, 4, 4}, "eight times 2": {2, 2, 2, 2, 2, 2, 2, 2}, "five times 3": {3, 3, 3, 3, 3},
}

func TestEqualCorrelations(t *testing.T) {
	thorough.Only(t)
	random := rand.New(rand.NewPCG(1, 1))
	// in the same order each time, for the random numbers
	for _, name := range slices.Sorted(maps.Keys(structures)) {
		sizes := structures[name]
		worst, squares := 0., 0.
		const n = 8
		for range n {
			g, r := group(random, sizes...), .95*random.Float64()
			err := g.Prob(equal(r)) - slowEqual(g, r)
			worst, squares = max(worst, math.Abs(err)), squares+err*err
		}
		t.Logf("%s: off by %.6f at most, %.6f usually", name, worst, math.Sqrt(squares/n))
		limit := .001
		if len(sizes) > fewSets && sizes[0] > 1 {
			limit = .003
		}
		if worst > limit {
			t.Errorf("%s: off by %v", name, worst)
		}
	}
}

// TestAnyCorrelations compares with a simulation in which sites have any correlations, also
// negative ones.
func TestAnyCorrelations(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 2))
	// in the same order each time, for the random numbers
	for _, name := range slices.Sorted(maps.Keys(structures)) {
		sizes := structures[name]
		g, matrix := group(random, sizes...), wishart(random, members(sizes))
		between := func(a, b string) float64 {
			var i, k int
			fmt.Sscan(a+" "+b, &i, &k)
			return matrix[i][k]
		}
		root := cholesky(matrix)
		const n = 60_000
		came, z := 0, make([]float64, len(matrix))
		for range n {
			for i := range z {
				z[i] = random.NormFloat64()
			}
			succeeded, i := true, 0
			for _, set := range g {
				one := false
				for _, m := range set {
					x := 0.
					for k, l := range root[i] {
						x += l * z[k]
					}
					one = one || x <= quantile(m.Prob)
					i++
				}
				succeeded = succeeded && one
			}
			if succeeded {
				came++
			}
		}
		got, want := g.Prob(between), float64(came)/n
		if math.Abs(got-want) > .003+4*math.Sqrt(want*(1-want)/n) {
			t.Errorf("%s: %.4f, in a simulation %.4f", name, got, want)
		}
	}
}

func members(sizes []int) (n int) {
	for _, size := range sizes {
		n += size
	}
	return n
}

// wishart returns a random correlation matrix.
func wishart(random *rand.Rand, n int) [][]float64 {
	x := make([][]float64, n)
	for i := range x {
		norm := 0.
		for range n + 2 {
			z := random.NormFloat64()
			x[i], norm = append(x[i], z), norm+z*z
		}
		for k := range x[i] {
			x[i][k] /= math.Sqrt(norm)
		}
	}
	matrix := make([][]float64, n)
	for i := range matrix {
		matrix[i] = make([]float64, n)
		for k := range matrix[i] {
			for l := range x[i] {
				matrix[i][k] += x[i][l] * x[k][l]
			}
		}
		matrix[i][i] = 1
	}
	return matrix
}

func TestLimits(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		name    string
		group   Group
		between Correlation
		want    float64
	}{
		{"nothing asked", nil, nil, 1},
		{"a set without members", Group{{{"a", .9}}, {}}, nil, 0},
		{"one", AnyOf(Member{"a", .7}), equal(.5), .7},
		{"any, independent", AnyOf(Member{"a", .7}, Member{"b", .6}), equal(0), .88},
		{"all, independent", AllOf(Member{"a", .7}, Member{"b", .6}), nil, .42},
		{"nested, independent", Group{{{"a", .7}, {"b", .6}}, {{"c", .5}}}, nil, .44},
		{"any, together", AnyOf(Member{"a", .7}, Member{"b", .6}), equal(1), .7},
		{"all, together", AllOf(Member{"a", .7}, Member{"b", .6}), equal(1), .6},
		{"any, opposite", AnyOf(Member{"a", .7}, Member{"b", .2}), equal(-1), .9},
		{"all, opposite", AllOf(Member{"a", .7}, Member{"b", .6}), equal(-1), .3},
		{"all, opposite and rare", AllOf(Member{"a", .3}, Member{"b", .6}), equal(-1), 0},
		{"any of three, together", AnyOf(Member{"a", .7}, Member{"b", .6}, Member{"c", .5}), equal(1), .7},
		{"all of three, together", AllOf(Member{"a", .7}, Member{"b", .6}, Member{"c", .5}), equal(1), .5},
		{"any with a certain one", AnyOf(Member{"a", 1}, Member{"b", .6}), equal(.9), 1},
		{"any with an impossible one", AnyOf(Member{"a", 0}, Member{"b", .6}), equal(.9), .6},
		{"all with a certain one", AllOf(Member{"a", 1}, Member{"b", .6}), equal(.9), .6},
		{"all with an impossible one", AllOf(Member{"a", 0}, Member{"b", .6}), equal(.9), 0},
		{"beyond probabilities", AnyOf(Member{"a", -3}, Member{"b", nan}, Member{"c", .6}), equal(nan), .6},
		{"certain beyond 1", AllOf(Member{"a", 7}, Member{"b", .6}), equal(9), .6},
		{"nearly certain", AnyOf(Member{"a", 1 - 1e-16}, Member{"b", 1e-300}), equal(.5), 1},
	} {
		limit := 1e-12
		if strings.Contains(c.name, "three") {
			limit = 1e-3
		}
		if got := c.group.Prob(c.between); math.Abs(got-c.want) > limit {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// TestBounds: every probability is within Fréchet's bounds, and reaches them at the extreme
// correlations. The order of members makes no difference.
func TestBounds(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 3))
	for range 200 {
		g, r := group(random, []int{1 + random.IntN(3), 1 + random.IntN(2)}...), 2*random.Float64()-1
		low, high := g.Bounds()
		got := g.Prob(equal(r))
		if !(got >= low && got <= high && g.Independent() >= low-1e-15 && g.Independent() <= high+1e-15) {
			t.Errorf("%v with %v: %v is not in %v..%v", g, r, got, low, high)
		}
		turned := Group{}
		for i := range g {
			var set []Member
			for k := range g[len(g)-1-i] {
				set = append(set, g[len(g)-1-i][len(g[len(g)-1-i])-1-k])
			}
			turned = append(turned, set)
		}
		if other := turned.Prob(equal(r)); math.Abs(other-got) > 3e-3 {
			t.Errorf("%v with %v: %v, but %v in the opposite order", g, r, got, other)
		}
	}
	two := AllOf(Member{"a", .6}, Member{"b", .7})
	if low, high := two.Bounds(); math.Abs(low-two.Prob(equal(-1))) > 1e-12 || math.Abs(high-two.Prob(equal(1))) > 1e-12 {
		t.Errorf("all of two: the bounds %v and %v are not reached", low, high)
	}
}

// TestMonotone: the stronger the correlation, the more likely all start, and the less likely any
// starts.
func TestMonotone(t *testing.T) {
	three := []Member{{"a", .8}, {"b", .6}, {"c", .9}}
	for r := -.4; r < .95; r += .05 {
		if AllOf(three...).Prob(equal(r+.05)) <= AllOf(three...).Prob(equal(r)) || AnyOf(three...).Prob(equal(r+.05)) >= AnyOf(three...).Prob(equal(r)) {
			t.Errorf("not so between %.2f and %.2f", r, r+.05)
		}
	}
}

// TestContradiction: impossible correlations are scaled down until they are possible, and no
// further.
func TestContradiction(t *testing.T) {
	against := [][]float64{{1, .9, -.9}, {.9, 1, .9}, {-.9, .9, 1}}
	if cholesky(against) != nil {
		t.Fatal("they do not contradict one another")
	}
	got := definite(against)
	if math.Abs(got[0][1]-.5) > 1e-6 || math.Abs(got[0][2]+.5) > 1e-6 || got[1][1] != 1 {
		t.Errorf("correlations %v, want .5 and -.5", got)
	}
	possible := [][]float64{{1, .9, .7}, {.9, 1, .9}, {.7, .9, 1}}
	if &definite(possible)[0] != &possible[0] {
		t.Error("correlations that can be are changed")
	}
	g := AllOf(Member{"a", .9}, Member{"b", .9}, Member{"c", .9})
	signs := func(a, b string) float64 {
		if a+b == "ac" || a+b == "ca" {
			return -.9
		}
		return .9
	}
	if p := g.Prob(signs); !(p > .7 && p < .9) {
		t.Errorf("all start with %v", p)
	}
}

func TestKind(t *testing.T) {
	m := Member{"a", .5}
	for _, c := range []struct {
		group Group
		want  Kind
	}{{nil, Single}, {AnyOf(m), Single}, {AnyOf(m, m), Any}, {AllOf(m, m), All}, {Group{{m, m}, {m}}, Nested}} {
		if got := c.group.Kind(); got != c.want {
			t.Errorf("%v is %v, want %v", c.group, got, c.want)
		}
	}
}

func BenchmarkProb(b *testing.B) {
	random := rand.New(rand.NewPCG(4, 4))
	for _, name := range []string{"any of 2", "all of 3", "any of 8", "2 and 2", "all of 16", "four times 4", "eight times 2"} {
		g := group(random, structures[name]...)
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				g.Prob(equal(.4))
			}
		})
	}
}
