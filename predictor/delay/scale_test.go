package delay

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestFromScale compares distributions of one delay on several grids.
func TestFromScale(t *testing.T) {
	for _, scale := range []float64{Scale, 30, 300} {
		var d, want Distribution
		for i, at := range points(scale) {
			d[i] = 1 - .8*math.Exp(-at/3600)
			want[i] = 1 - .8*math.Exp(-grid[i]/3600)
		}
		got := FromScale(scale, &d)
		for i := range got {
			if math.Abs(got[i]-want[i]) > .003 || i > 0 && got[i] < got[i-1] {
				t.Fatalf("scale %v: within %v s %v, want %v", scale, grid[i], got[i], want[i])
			}
		}
	}
}

// What was a distribution is one on the other grid.
func TestFromScaleRises(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 1000 {
		d := random(r)
		got := FromScale(30, d)
		if got[0] != d[0] || got[Points-1] != d[Points-1] {
			t.Fatalf("from %v to %v, want from %v to %v", got[0], got[Points-1], d[0], d[Points-1])
		}
		for i := 1; i < Points; i++ {
			if got[i] < got[i-1] {
				t.Fatalf("it falls from %v to %v", got[i-1], got[i])
			}
		}
	}
}
