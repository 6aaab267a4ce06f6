package stats

import "testing"

func TestBoundIndices(t *testing.T) {
	for _, q := range []float64{0, .05, .5, .9, .95, .999, 1} {
		indices := NewBoundIndices(q, .95)
		for _, n := range []int{300, 0, 1, 58, 59, 60, 2000} {
			k, ok := indices.Index(n)
			if want, _, wantOK := QuantileBound(n, q, .95); k != want || ok != wantOK {
				t.Errorf("index of the %v quantile in %d is %d, %v, want %d, %v", q, n, k, ok, want, wantOK)
			}
		}
	}
}
