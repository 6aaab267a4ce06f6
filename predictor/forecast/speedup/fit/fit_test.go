package fit

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/varq-project/varq/predictor/forecast/speedup"
)

// made returns some runs on each size of a program with a curve that takes an hour on one node,
// normal in the logarithm with a deviation.
func made(c speedup.Curve, sizes []int32, each int, deviation float64, random *rand.Rand) []Run {
	var runs []Run
	for _, n := range sizes {
		for range each {
			runs = append(runs, Run{n, 3600 / c.Of(float64(n)) * math.Exp(deviation*random.NormFloat64())})
		}
	}
	return runs
}

var doubled = []int32{1, 2, 4, 8, 16, 32, 64}

// TestRecovers: the curve of many runs is that of the program, at sizes seen.
func TestRecovers(t *testing.T) {
	for _, c := range []speedup.Curve{
		speedup.Amdahl{}, speedup.Amdahl{Serial: .001}, speedup.Amdahl{Serial: .02}, speedup.Amdahl{Serial: .3}, speedup.Amdahl{Serial: 1},
		speedup.Downey{A: 8, Sigma: 0}, speedup.Downey{A: 20, Sigma: .5}, speedup.Downey{A: 64, Sigma: 1.5}, speedup.Downey{A: 200, Sigma: 2},
	} {
		random := rand.New(rand.NewPCG(1, 2))
		m, err := Fit(made(c, doubled, 10, .1, random), random)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range doubled {
			want := 3600 / c.Of(float64(n))
			if got, _, _ := m.At(n); math.Abs(math.Log(got/want)) > .08 {
				t.Errorf("%v on %d nodes: %.0f s, want %.0f (fitted %v)", c, n, got, want, m.Curve)
			}
		}
	}
}

// TestExact: runs that lie on a curve give it back, and it is the simpler one that does.
func TestExact(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 3))
	m, err := Fit(made(speedup.Amdahl{Serial: .05}, doubled, 2, 0, random), random)
	if err != nil {
		t.Fatal(err)
	}
	if a, ok := m.Curve.(speedup.Amdahl); !ok || math.Abs(a.Serial-.05) > 1e-3 {
		t.Errorf("fitted %v", m.Curve)
	}
	m, err = Fit(made(speedup.Downey{A: 12, Sigma: .3}, doubled, 2, 0, random), random)
	if err != nil {
		t.Fatal(err)
	}
	if d, ok := m.Curve.(speedup.Downey); !ok || math.Abs(d.A/12-1) > .02 || math.Abs(d.Sigma-.3) > .1 {
		t.Errorf("fitted %v", m.Curve)
	}
}

// TestCoverage: intervals have the true time as often as they say, for few runs and for many, and
// also beyond the sizes seen.
func TestCoverage(t *testing.T) {
	for name, c := range map[string]struct {
		curve speedup.Curve
		sizes []int32
		each  int
		ask   []int32
		least int // of 60 intervals; over 500 seeds .84 to .93 hold
	}{
		"few runs":       {speedup.Amdahl{Serial: .03}, []int32{4, 8, 16}, 2, []int32{4, 8, 16}, 51},
		"two sizes":      {speedup.Amdahl{Serial: .03}, []int32{4, 16}, 3, []int32{4, 8, 16}, 51},
		"twice as large": {speedup.Amdahl{Serial: .03}, []int32{2, 4, 8, 16}, 5, []int32{2, 16, 32}, 46},
		"Downey's":       {speedup.Downey{A: 24, Sigma: .5}, doubled, 4, []int32{1, 8, 64}, 47},
	} {
		const times = 60
		held := map[int32]int{}
		for seed := range uint64(times) {
			random := rand.New(rand.NewPCG(seed, 4))
			m, err := Fit(made(c.curve, c.sizes, c.each, .2, random), random)
			if err != nil {
				t.Fatal(err)
			}
			for _, n := range c.ask {
				if _, low, high := m.At(n); low <= 3600/c.curve.Of(float64(n)) && 3600/c.curve.Of(float64(n)) <= high {
					held[n]++
				}
			}
		}
		for _, n := range c.ask {
			if held[n] < c.least || held[n] == times {
				t.Errorf("%s, %d nodes: the interval of confidence .9 holds in %d of %d cases", name, n, held[n], times)
			}
		}
	}
}

// TestOutlier: one run of a huge input changes little.
func TestOutlier(t *testing.T) {
	c := speedup.Amdahl{Serial: .02}
	for at := range doubled {
		random := rand.New(rand.NewPCG(1, 5))
		runs := made(c, doubled, 4, .1, random)
		runs[4*at].Seconds *= 100
		m, err := Fit(runs, random)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range doubled {
			want := 3600 / c.Of(float64(n))
			mean := 0.
			for _, x := range m.Times(n) {
				mean += x / float64(len(runs))
			}
			if mean > 1.3*want || m.Enough(n) > 3*want || m.Far == 0 {
				t.Errorf("with one of %d nodes 100 times as long: %d far ones, runs of %.0f s on %d nodes, at most %.0f; want %.0f", doubled[at], m.Far, mean, n, m.Enough(n), want)
			}
			if got, _, _ := m.At(n); math.Abs(math.Log(got/want)) > .2 {
				t.Errorf("with one of %d nodes 100 times as long: %.0f s on %d nodes, want %.0f", doubled[at], got, n, want)
			}
		}
	}
}

func TestTurn(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 6))
	slower := made(speedup.Amdahl{Serial: .01}, doubled[:5], 4, .05, random)
	for _, n := range []int32{32, 64} {
		for range 4 {
			slower = append(slower, Run{n, 500 * float64(n) / 32})
		}
	}
	for name, c := range map[string]struct {
		runs []Run
		want int32
	}{
		"ever faster":       {made(speedup.Amdahl{Serial: .01}, doubled, 4, .05, random), 0},
		"no speedup at all": {made(speedup.Amdahl{Serial: 1}, doubled, 4, .3, random), 0},
		"slower from 32 on": {slower, 16},
		"slower throughout": {[]Run{{1, 100}, {1, 110}, {1, 105}, {2, 200}, {2, 210}, {2, 205}}, 1},
	} {
		m, err := Fit(c.runs, rand.New(rand.NewPCG(1, 7)))
		if err != nil {
			t.Fatal(err)
		}
		if got := m.Turn(); got != c.want {
			t.Errorf("%s: turns at %d nodes, want %d", name, got, c.want)
		}
	}
}

// TestAlike: equal times everywhere are no speedup, with a narrow interval.
func TestAlike(t *testing.T) {
	runs := []Run{{1, 600}, {2, 600}, {4, 600}, {4, 600}, {8, 600}, {8, 600}}
	m, err := Fit(runs, rand.New(rand.NewPCG(1, 7)))
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int32{1, 3, 8, 100} {
		if got, low, high := m.At(n); math.Abs(got-600) > 1 || low < 590 || high > 610 {
			t.Errorf("%d nodes: %v [%v, %v]", n, got, low, high)
		}
	}
	if enough := m.Enough(8); enough < 599.99 || enough > 610 {
		t.Errorf("%v is enough", enough)
	}
}

// TestTimes: the past runs of a size are among those that the model expects, and none takes longer
// than is enough.
func TestTimes(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 8))
	runs := made(speedup.Amdahl{Serial: .1}, doubled, 3, .3, random)
	m, err := Fit(runs, random)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range runs {
		near := math.Inf(1)
		times := m.Times(r.Nodes)
		for i, x := range times {
			near = min(near, math.Abs(x-r.Seconds)/r.Seconds)
			if i > 0 && x < times[i-1] {
				t.Fatal("the times are in no order")
			}
		}
		if near > 1e-9 && m.Far == 0 || len(times) != len(runs) {
			t.Errorf("%v is not among %v", r, times)
		}
		if r.Seconds > m.Enough(r.Nodes) {
			t.Errorf("%v takes longer than %v", r, m.Enough(r.Nodes))
		}
	}
}

func TestRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		runs   []Run
		want   string
		little bool
	}{
		"none":      {nil, "too little to go by: 0 runs; a fit needs 5 or more, of 2 sizes or more", true},
		"one":       {[]Run{{1, 1}}, "too little to go by: 1 run; a fit needs 5 or more, of 2 sizes or more", true},
		"four":      {[]Run{{1, 1}, {2, 1}, {3, 1}, {4, 1}}, "too little to go by: 4 runs; a fit needs 5 or more, of 2 sizes or more", true},
		"one size":  {[]Run{{8, 1}, {8, 2}, {8, 3}, {8, 4}, {8, 5}}, "too little to go by: all 5 runs had 8 nodes; a fit needs 2 sizes or more", true},
		"one node":  {[]Run{{1, 1}, {1, 2}, {1, 3}, {1, 4}, {1, 5}}, "too little to go by: all 5 runs had 1 node; a fit needs 2 sizes or more", true},
		"no time":   {[]Run{{8, 0}}, "a run of 0 s on 8 nodes cannot be", false},
		"no nodes":  {[]Run{{0, 1}}, "a run of 1 s on 0 nodes cannot be", false},
		"NaN":       {[]Run{{1, math.NaN()}}, "a run of NaN s on 1 nodes cannot be", false},
		"for ever":  {[]Run{{1, math.Inf(1)}}, "a run of +Inf s on 1 nodes cannot be", false},
		"backwards": {[]Run{{1, -5}}, "a run of -5 s on 1 nodes cannot be", false},
	} {
		_, err := Fit(c.runs, rand.New(rand.NewPCG(1, 9)))
		if err == nil || err.Error() != c.want || errors.Is(err, ErrTooLittle) != c.little {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestMost: of very many runs the last ones count.
func TestMost(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 10))
	runs := append(made(speedup.Amdahl{Serial: 1}, doubled, 20, .1, random), made(speedup.Amdahl{Serial: 0}, []int32{8, 4, 2, 1}, MostRuns/4, .1, random)...)
	m, err := Fit(runs, random)
	if err != nil {
		t.Fatal(err)
	}
	if got, _, _ := m.At(8); math.Abs(got-450) > 30 || len(m.Runs) != MostRuns {
		t.Errorf("%v s on 8 nodes, from %d runs", got, len(m.Runs))
	}
}

// TestSearch: the search finds what a fine grid finds.
func TestSearch(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 11))
	for range 20 {
		c := speedup.Downey{A: math.Exp(5 * random.Float64()), Sigma: 3 * random.Float64()}
		d := newData(made(c, doubled, 3, .3, random))
		for _, f := range []*family{amdahl, downey} {
			got := d.fit(f)
			loss, _ := d.huber(f, got.place, got.scale)
			fine := &family{f.parameters, f.curve, []int{400, 100}[:f.parameters]}
			for _, u := range fine.grid() {
				if l, _ := d.huber(f, u, got.scale); l < loss-.02*loss {
					t.Errorf("%v: loss %v at %v, and %v at %v", c, loss, got.place, l, u)
					break
				}
			}
		}
	}
}

// TestLocation against a fine grid.
func TestLocation(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 12))
	for range 100 {
		numbers := make([]float64, 1+random.IntN(20))
		for i := range numbers {
			numbers[i] = random.NormFloat64() * math.Exp(3*random.NormFloat64())
		}
		scale := math.Exp(random.NormFloat64())
		loss := func(at float64) (sum float64) {
			for _, x := range numbers {
				sum += rho((x - at) / scale)
			}
			return sum
		}
		got := location(numbers, scale)
		for at := got - 3; at <= got+3; at += .01 {
			if loss(at) < loss(got)-1e-4 {
				t.Errorf("%v with scale %v: loss %v at %v, and %v at %v", numbers, scale, loss(got), got, loss(at), at)
				break
			}
		}
	}
}

func TestErrorNamesTheRun(t *testing.T) {
	_, err := Fit([]Run{{4, 1}, {4, -1}}, nil)
	if err == nil || !strings.Contains(err.Error(), "-1 s on 4 nodes") {
		t.Errorf("%v", err)
	}
}

func BenchmarkFit(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 13))
	runs := made(speedup.Downey{A: 24, Sigma: .5}, doubled, 40, .2, random)
	for b.Loop() {
		if _, err := Fit(runs, random); err != nil {
			b.Fatal(err)
		}
	}
}
