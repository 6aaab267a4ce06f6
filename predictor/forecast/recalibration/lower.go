package recalibration

import (
	"github.com/varq-project/varq/predictor/delay"
	"github.com/varq-project/varq/predictor/stats"
)

// lowerBound bounds recalibrated probabilities from below (Clopper and Pearson). It takes
// a probability p for a proportion observed in a sample: p*n of n independent outcomes,
// where n is the effective sample size, that of the user for whom it is least.
//
// Jobs that waited together are not independent, so the confidence is not exact. The
// bound is a margin. Whether it is wide enough shows in how many promises are missed.
type lowerBound struct {
	confidence float64
	table      []float64 // table[k] is the bound on the proportion k/(len(table)-1)
}

// update works out the table for an effective sample size. It leaves a table alone that
// is for a larger sample, or for one that is smaller by less than a twentieth.
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
