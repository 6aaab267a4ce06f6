package evaluate

import (
	"math"
	"testing"

	"github.com/varq-project/varq/predictor/trial/backtest"
)

// TestPace: as long as a method goes on that takes longest, those that are quick say little about
// the time that is left.
func TestPace(t *testing.T) {
	makers := []backtest.Maker{{Cost: 40}, {Cost: 30}, {Cost: 10}}
	for _, c := range []struct {
		workers int
		parts   [3]float64
		want    float64
	}{
		{2, [3]float64{}, 0}, {2, [3]float64{0, 0, 1}, 0}, {2, [3]float64{.5, .5, 0}, .4375}, {2, [3]float64{.5, 1, 1}, .5}, {2, [3]float64{1, 1, 1}, 1},
		{1, [3]float64{1, 0, 0}, .5}, {3, [3]float64{0, 1, 1}, 0},
	} {
		p := newPace(makers, c.workers)
		got := 0.
		for i, part := range c.parts {
			got = p.done(i, makers[i].Cost, part)
		}
		if math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%d workers, %v done: %v, want %v", c.workers, c.parts, got, c.want)
		}
	}
}

// TestCosts: each method has a cost.
func TestCosts(t *testing.T) {
	for _, makers := range [][]backtest.Maker{backtest.Methods, backtest.Completions, backtest.Pendings} {
		for _, m := range makers {
			if !(m.Cost > 0) {
				t.Errorf("%s costs %v", m.Name, m.Cost)
			}
		}
	}
}
