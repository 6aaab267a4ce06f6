package forest

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/varq-project/varq/predictor/delay"
)

// learnt returns a model that has learnt n cases of 20 features. The delay of a case is
// exponential, with a mean that depends on its features.
func learnt(n int, random *rand.Rand, mean func(x []float32) float64) *Model {
	m := New(20, Light, rand.New(rand.NewPCG(1, 2)), nil)
	x := make([]float32, 20)
	for range n {
		draw(x, random)
		m.Learn(m.Case(x), mean(x)*random.ExpFloat64())
		m.Grow()
	}
	return m
}

func draw(x []float32, random *rand.Rand) {
	for i := range x {
		x[i] = random.Float32()
	}
}

// steep is a mean delay, in seconds, that depends on the first two features. It rises from
// 100 to 33,000, and has a jump.
func steep(x []float32) float64 {
	y := 100 * math.Exp(4*float64(x[0]))
	if x[1] > .5 {
		y *= 6
	}
	return y
}

// TestFindsWhatMatters: two of 20 features matter, and the forecast is near the truth.
func TestFindsWhatMatters(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	m := learnt(7000, random, steep)
	x := make([]float32, 20)
	var d delay.Distribution
	within, off := [...]float64{.5, .9, .95}, [3]float64{}
	const asked = 1500
	for range asked {
		draw(x, random)
		if !m.Predict(m.Case(x), &d) {
			t.Fatal("nothing learnt")
		}
		for i, q := range within {
			// The true probability of a delay within the q quantile of the forecast.
			off[i] += 1 - math.Exp(-d.Quantile(q)/steep(x))
		}
	}
	for i, q := range within {
		if mean := off[i] / asked; math.Abs(mean-q) > .03 {
			t.Errorf("the %v quantile is really that of %v", q, mean)
		}
	}
	draw(x, random)
	low, high := quantile(m, x, 0, 0), quantile(m, x, 1, 1)
	if high < 30*low {
		t.Errorf("medians from %v to %v, want a factor of 300", low, high)
	}
}

// quantile returns the median for x with x0 and x1 as its first two features.
func quantile(m *Model, x []float32, x0, x1 float32) float64 {
	x[0], x[1] = x0, x1
	var d delay.Distribution
	m.Predict(m.Case(x), &d)
	return d.Quantile(.5)
}

// TestForgets: when delays change, so do forecasts.
func TestForgets(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 2))
	m := learnt(2000, random, steep)
	x := make([]float32, 20)
	draw(x, random)
	before := quantile(m, x, .9, .2)
	for range 8000 {
		draw(x, random)
		m.Learn(m.Case(x), 10*random.ExpFloat64())
		m.Grow()
	}
	if after := quantile(m, x, .9, .2); after > 60 || before < 1000 {
		t.Errorf("median %v before, %v after, want some 2500 and 7", before, after)
	}
}

func TestIsADistribution(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 3))
	m := learnt(3000, random, func(x []float32) float64 { return 1e6 * float64(x[2]) })
	x := make([]float32, 20)
	var d delay.Distribution
	for range 200 {
		draw(x, random)
		m.Predict(m.Case(x), &d)
		last := 0.
		for i, p := range d {
			if p < last || p > 1 {
				t.Fatalf("point %d: %v after %v", i, p, last)
			}
			last = p
		}
		if last < 1-1e-9 {
			t.Fatalf("ends at %v", last)
		}
	}
}

func TestNothingLearnt(t *testing.T) {
	m := New(3, Light, rand.New(rand.NewPCG(1, 1)), nil)
	var d delay.Distribution
	if m.Predict(m.Case([]float32{1, 2, 3}), &d) {
		t.Error("it predicts")
	}
	// The cases do not differ, and neither do the delays.
	for range 1000 {
		m.Learn(m.Case([]float32{1, 2, 3}), 50)
		m.Grow()
	}
	if !m.Predict(m.Case([]float32{7, 8, 9}), &d) || d.Within(60) < 1-1e-9 || d.Within(40) > 1e-9 {
		t.Errorf("of delays of 50 s: %v within 40, %v within 60", d.Within(40), d.Within(60))
	}
}

// TestSame: with the same random numbers, answers are the same.
func TestSame(t *testing.T) {
	a := learnt(3000, rand.New(rand.NewPCG(5, 5)), steep)
	b := learnt(3000, rand.New(rand.NewPCG(5, 5)), steep)
	x := make([]float32, 20)
	if quantile(a, x, .3, .3) != quantile(b, x, .3, .3) {
		t.Error("answers differ")
	}
}

// TestSlowDown: a model that is slowed down grows fewer trees, but leaves still store new
// delays.
func TestSlowDown(t *testing.T) {
	grown := [2]int{}
	for i, times := range []int{1, 100} {
		random := rand.New(rand.NewPCG(6, 6))
		m := learnt(4000, random, steep)
		x := make([]float32, 20)
		before := quantile(m, x, .9, .2)
		m.SlowDown(times)
		from := m.forest.oldest
		for range 3000 {
			draw(x, random)
			m.Learn(m.Case(x), 10*random.ExpFloat64())
			m.Grow()
		}
		grown[i] = m.forest.oldest - from
		if after := quantile(m, x, .9, .2); after > .6*before {
			t.Errorf("%d times as seldom: median %v before, %v after 3000 delays of 10 s", times, before, after)
		}
	}
	if grown[0] != 30 || grown[1] < 5 || grown[1] > 15 {
		t.Errorf("%d trees of 3000 cases, slowed down %d", grown[0], grown[1])
	}
}

// TestGrowsWhileLearning: while a tree grows, more cases are learnt than reserve, but the
// cases that it grows from do not change. A tree is used from the same case on, whenever the
// Background runs its growth.
func TestGrowsWhileLearning(t *testing.T) {
	answer := func(background Background) float64 {
		random := rand.New(rand.NewPCG(7, 7))
		m := New(3, Light, rand.New(rand.NewPCG(1, 2)), background)
		x := make([]float32, 3)
		for i := range window + 3*reserve {
			draw(x, random)
			m.Learn(m.Case(x), steep(x)*random.ExpFloat64())
			if i%(reserve+100) == 0 {
				m.Grow()
			}
		}
		m.Grow()
		return quantile(m, x, .9, .7)
	}
	first := answer(nil)
	if want := 6 * 100 * math.Exp(4*.9) * math.Ln2; first < want/2 || first > 2*want {
		t.Errorf("median %v, want some %v", first, want)
	}
	for name, background := range map[string]Background{
		"concurrently": func(task func()) { go task() },
		"never":        func(func()) {},
	} {
		if again := answer(background); again != first {
			t.Errorf("median %v, growing %s %v", first, name, again)
		}
	}
}
