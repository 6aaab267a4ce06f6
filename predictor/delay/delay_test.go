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
		if step := At(i) - At(i-1); step < 1 || step > .115*(At(i-1)+Scale)+1 {
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
		if p := d.Within(s); s != math.Trunc(s) || p < q-1e-6 || s > 0 && d.Within(s-1) > q {
			t.Fatalf("Quantile(%v) = %v, within which %v lies, and %v within a second less", q, s, p, d.Within(s-1))
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

// A delay of whole seconds is within 1.5 s if it is within 1 s.
func TestWholeSeconds(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	for range 2000 {
		d, s, part := random(r), float64(r.IntN(2000)), r.Float64()
		if d.Within(s+part) != d.Within(s) || s > 0 && d.Below(s) != d.Within(s-1) || d.Below(s+1) != d.Within(s) {
			t.Fatalf("within %v s %v, below %v, and within %v s %v", s, d.Within(s), d.Below(s), s+part, d.Within(s+part))
		}
	}
	if d := random(r); d.Below(0) != 0 {
		t.Errorf("%v is below 0 s", d.Below(0))
	}
}

func TestPITsAreUniform(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	const n = 100_000
	d := random(r)
	for i := range d {
		d[i] = .3 + .5*d[i] // atoms at 0
		if i > 0 {
			d[i] += .2 // and at 1
		}
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

// TestHeld compares Held with a sum over seconds.
func TestHeld(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	for range 100 {
		d, budget := random(r), r.IntN(20_000)
		want := 0.
		for s := range budget {
			want += d.Within(float64(s))
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
