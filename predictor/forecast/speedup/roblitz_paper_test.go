package speedup

// Tests of what Röblitz, Schintke and Wendler (2005) state about adapting the number of processors,
// section 3.2.1.

import (
	"math/rand/v2"
	"testing"
)

// bruteForce is the least number of processors by trying all, most+1 if there is none.
func bruteForce(c Curve, need float64, most int32) int32 {
	n := int32(1)
	for n <= most && c.Of(float64(n)) < need {
		n++
	}
	return n
}

func TestLeastAsBruteForce(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	tables := []Curve{}
	for _, text := range []string{"1 1\n4 3.5\n16 9.5\n", "4 2h\n8 2h\n9 1h", "2 3\n5 9"} {
		table, err := ParseTable(text)
		if err != nil {
			t.Fatal(err)
		}
		tables = append(tables, table)
	}
	for _, c := range append(tables, curves()...) {
		for range 20 {
			most := 1 + random.Int32N(300)
			// Speedups that are reached exactly, just so, just not, and any.
			at := c.Of(float64(1 + random.Int32N(most)))
			for _, need := range []float64{at, at - 1e-9, at + 1e-9, .5, 1, 1 + random.Float64()*float64(most)} {
				got, ok := Least(c, need, most)
				if !ok {
					got = most + 1
				}
				// Where a curve is flat it falls by rounding.
				const slip = 1e-13
				if got < bruteForce(c, need*(1-slip), most) || got > bruteForce(c, need*(1+slip), most) {
					t.Fatalf("%v for %v, at most %d: %d, want %d", c, need, most, got, bruteForce(c, need, most))
				}
			}
		}
	}
}

// Equation 4 and its conditions: a speedup of 1/seq or more is out of reach, seq = 0 leaves the
// required speedup itself, and seq = 1 allows none.
func TestEquation4(t *testing.T) {
	for _, c := range []struct {
		serial, need float64
		want         int32 // 0 if there is none
	}{
		{.01, 8, 9}, {.01, 99, 9801}, {.01, 100, 0}, {.01, 101, 0},
		{0, 12, 12}, {0, 12.25, 13}, {1, 1, 1}, {1, 1.0001, 0}, {.5, 2, 0}, {.5, 1.5, 3},
	} {
		got, ok := Least(Amdahl{c.serial}, c.need, 1<<20)
		if ok != (c.want != 0) || ok && got != c.want {
			t.Errorf("%v: a speedup of %v takes %d (%v), want %d", c.serial, c.need, got, ok, c.want)
		}
	}
}

// Figure 2, as it is printed but for its last test: there, C < S would say of almost every request
// that it cannot be fulfilled, and of none that cannot; it has to be C > S.
func TestFigure2(t *testing.T) {
	adapt := func(d Downey, c float64, least, most, site int32, cannot func(c, s float64) bool) int32 {
		n := least
		for c > d.Of(float64(n)) && n <= most {
			n++
		}
		if cannot(c, d.Of(float64(n))) {
			n = max(site, most) + 1
		}
		return n
	}
	greater := func(c, s float64) bool { return c > s }
	less := func(c, s float64) bool { return c < s }
	printed := 0
	for a := 1.; a <= 40; a += 3.7 {
		for sigma := 0.; sigma < 3; sigma += .3 {
			for need := 1.01; need < 50; need += .83 {
				d := Downey{a, sigma}
				const most = 64
				got, ok := Least(d, need, most)
				want := adapt(d, need, 1, most, most, greater)
				if ok != (want <= most) || ok && got != want {
					t.Errorf("%v for %v: %d (%v), want %d", d, need, got, ok, want)
				}
				if (adapt(d, need, 1, most, most, less) <= most) != ok {
					printed++
				}
			}
		}
	}
	if printed == 0 {
		t.Error("the figure is right as it is printed")
	}
}
