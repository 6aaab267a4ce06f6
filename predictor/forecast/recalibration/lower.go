package recalibration

import (
	"math"

	"github.com/varq-project/varq/predictor/delay"
	"github.com/varq-project/varq/predictor/stats"
)

// lowerBounds bound recalibrated probabilities from below (Clopper and Pearson). They take
// a probability p for a proportion observed in a sample: p*n of n independent outcomes,
// where n is the effective size of the sample that the probability rests on.
//
// Jobs that waited together are not independent, so the confidence is not exact. The
// bound is a margin. Whether it is wide enough shows in how many promises are missed.
type lowerBounds struct {
	confidence float64
	tables     map[int]lowerBound // by n
}

// lowerBound is the bounds for one n: its k-th element is that on the proportion k/n.
type lowerBound []float64

// sizeStep is the ratio of the sample sizes that have a lowerBound of their own.
const sizeStep = 1.05

// of returns the bounds for a sample size of at least 1, rounded down by less than a
// twentieth.
func (b *lowerBounds) of(effective float64) lowerBound {
	n := int(math.Pow(sizeStep, math.Floor(math.Log(effective)/math.Log(sizeStep))))
	table, ok := b.tables[n]
	if !ok {
		table = make(lowerBound, n+1)
		for k := range table {
			table[k] = stats.LowerProportion(k, n, b.confidence)
		}
		b.tables[n] = table
	}
	return table
}

// apply sets low to the bounds on d.
func (b lowerBound) apply(d, low *delay.Distribution) {
	n := float64(len(b) - 1)
	for i, p := range d {
		low[i] = min(p, b[int(p*n)])
	}
}
