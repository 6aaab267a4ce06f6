package recalibration

import (
	"github.com/varq-project/varq/predictor/delay"
	"github.com/varq-project/varq/predictor/stats"
)

// lowerBound bounds probabilities from below with some confidence (Clopper and
// Pearson): a recalibrated probability p is taken for an observed proportion, p*n of n
// independent outcomes, where n is the effective sample size.
//
// Jobs that waited together are not independent, so the confidence is not exact. The
// bound is a margin, and what promises were worth shows whether it is wide enough.
type lowerBound struct {
	confidence float64
	table      []float64 // by k: the bound on k of len(table)-1
}

// update works out the table, unless the sample has grown by less than a twentieth
// since it was worked out last.
func (b *lowerBound) update(effective float64) {
	n := int(effective)
	if n < len(b.table)-1 || 20*n < 21*(len(b.table)-1) {
		return
	}
	b.table = make([]float64, n+1)
	for k := range b.table {
		b.table[k] = stats.LowerProportion(k, n, b.confidence)
	}
}

// apply sets low to the bounds on d.
func (b *lowerBound) apply(d, low *delay.Distribution) {
	n := float64(len(b.table) - 1)
	for i, p := range d {
		low[i] = min(p, b.table[int(p*n)])
	}
}
