package delay

import (
	"math"
	"math/rand/v2"
	"testing"
)

// random returns a distribution with an atom at 0 and perhaps a tail beyond the
// grid.
func random(r *rand.Rand) *Distribution {
	var d Distribution
	sum := 0.
	for i := range d {
		sum += r.ExpFloat64() * float64(r.IntN(2))
		d[i] = sum
	}
	sum += r.Float64()
	for i := range d {
		d[i] /= sum
	}
	return &d
}

func TestGrid(t *testing.T) {
	if At(0) != 0 || At(Points-1) != longest {
		t.Errorf("from %v to %v", At(0), At(Points-1))
	}
	for i := 1; i < Points; i++ {
		if step := At(i) - At(i-1); step < 1 || step > .11*(At(i-1)+scale)+1 {
			t.Errorf("from %v to %v", At(i-1), At(i))
		}
		if Index(At(i)) != i || Index(At(i)-.5) != i {
			t.Errorf("Index(%v) = %d, want %d", At(i), Index(At(i)), i)
		}
	}
	if Index(0) != 0 || Index(longest+1) != Points {
		t.Errorf("Index(0) = %d, beyond the grid %d", Index(0), Index(longest+1))
	}
}

func TestQuantileInvertsWithin(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 2000 {
		d, q := random(r), r.Float64()
		s := d.Quantile(q)
		if math.IsInf(s, 1) {
			if d[Points-1] >= q {
				t.Fatalf("Quantile(%v) is infinite, but %v lies within the grid", q, d[Points-1])
			}
			continue
		}
		if p := d.Within(s); p < q-1e-9 || s > 0 && d.Within(s-1e-6*(1+s)) > q+1e-9 {
			t.Fatalf("Quantile(%v) = %v, within which %v lies", q, s, p)
		}
	}
}

func TestWithinIsMonotone(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	d := random(r)
	last := 0.
	for s := -10.; s < 2*longest; s = 1.01*s + 1 {
		p := d.Within(s)
		if p < last || p > 1 || d.Below(s) > p {
			t.Fatalf("Within(%v) = %v after %v", s, p, last)
		}
		last = p
	}
	if d.Within(math.NaN()) != 0 || d.Within(math.Inf(1)) != d[Points-1] {
		t.Errorf("Within of no number %v, of infinity %v", d.Within(math.NaN()), d.Within(math.Inf(1)))
	}
}

func TestPITsAreUniform(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	const n = 100_000
	d := random(r)
	for i := range d {
		d[i] = .3 + .7*d[i] // an atom at 0
	}
	var below [10]int
	for range n {
		pit := d.PIT(min(d.Quantile(r.Float64()*d[Points-1]), longest), r.Float64())
		for i := range below {
			if pit <= float64(i+1)/10 {
				below[i]++
			}
		}
	}
	for i, k := range below {
		want := min(1, float64(i+1)/10/d[Points-1])
		if math.Abs(float64(k)/n-want) > .01 {
			t.Errorf("%v of the PITs are at most %v, want %v", float64(k)/n, float64(i+1)/10, want)
		}
	}
}

// TestHeld compares Held, an integral, with a sum over seconds.
func TestHeld(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	for range 100 {
		d, budget := random(r), r.IntN(20_000)
		want := 0.
		for s := range budget {
			want += (d.Within(float64(s)) + d.Within(float64(s+1))) / 2
		}
		if got := d.Held(float64(budget)); math.Abs(got-want) > 1e-6*(1+want) {
			t.Fatalf("Held(%d) = %v, want %v", budget, got, want)
		}
	}
	var never, at0 Distribution
	for i := range at0 {
		at0[i] = 1
	}
	if never.Held(1e9) != 0 || math.Abs(at0.Held(2e9)-2e9) > 1 || at0.Held(0) != 0 {
		t.Errorf("Held of a delay without end %v, of none %v", never.Held(1e9), at0.Held(2e9))
	}
}

func TestMix(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	a, b := random(r), random(r)
	var m Distribution
	m.Mix(a, .25)
	m.Mix(b, .75)
	if got, want := m.Within(1234), .25*a.Within(1234)+.75*b.Within(1234); math.Abs(got-want) > 1e-12 {
		t.Errorf("mixture %v, want %v", got, want)
	}
}

func BenchmarkQuantile(b *testing.B) {
	d := random(rand.New(rand.NewPCG(1, 1)))
	for b.Loop() {
		d.Quantile(.9)
	}
}
