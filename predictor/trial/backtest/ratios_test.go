package backtest

import (
	"math"
	"testing"
)

func TestRatios(t *testing.T) {
	var r ratios
	if r.median() != 0 {
		t.Errorf("median of nothing %v", r.median())
	}
	for _, x := range []float64{1, 1e6, 1e-6, 3, 5} {
		r.add(x)
	}
	if got := r.median(); math.Abs(got/3-1) > .0051 {
		t.Errorf("median %v, want 3", got)
	}
}
