package stats

import "testing"

func TestBoundIndices(t *testing.T) {
	for _, q := range []float64{0, .05, .5, .9, .95, .999, 1} {
		indices := NewBoundIndices(q, .95)
		for _, n := range []int{300, 0, 1, 58, 59, 60, 999, 1000, 1001, 20_000} {
			k, ok := indices.Index(n)
			if want, _, wantOK := QuantileBound(n, q, .95); k != want || ok != wantOK {
				t.Errorf("index of the %v quantile in %d is %d, %v, want %d, %v", q, n, k, ok, want, wantOK)
			}
		}
	}
}

// TestBoundIndicesEach checks that rounding does not change the index at any size.
func TestBoundIndicesEach(t *testing.T) {
	for _, q := range []float64{.05, .5, .75, .95} {
		indices := NewBoundIndices(q, .95)
		for n := range 5000 {
			k, _ := indices.Index(n)
			if want, _, _ := QuantileBound(n, q, .95); k != want {
				t.Fatalf("index of the %v quantile in %d is %d, want %d", q, n, k, want)
			}
		}
	}
}

func BenchmarkBoundIndices(b *testing.B) {
	indices := NewBoundIndices(.95, .95)
	n := 0
	for b.Loop() {
		indices.Index(n)
		n++
	}
}
