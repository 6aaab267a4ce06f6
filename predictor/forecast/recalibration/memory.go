package recalibration

import "github.com/varq-project/varq/predictor/delay"

const (
	// priorOutcomes is the number of outcomes with uniform PITs that a new memory begins
	// with.
	priorOutcomes = 10.
	// pooledOutcomes is the number of outcomes of a stratum that the PITs of all strata
	// together count for in it.
	pooledOutcomes = 300.
)

// memory has the PITs of past forecasts, with weights that decay at one rate, and the
// curves that follow from them.
type memory struct {
	all    histogram
	strata [strata]histogram
	curves [strata]curve
}

func newMemory(decay float64, f *feedback) (m memory) {
	m.all = newHistogram(decay, priorOutcomes)
	for i := range m.strata {
		m.strata[i] = newHistogram(decay, 0)
		m.update(i, f)
	}
	return m
}

// learn takes in the PIT of a forecast of a stratum, with a weight.
func (m *memory) learn(stratum int, pit, weight float64) {
	m.all.learn(pit, weight)
	m.strata[stratum].learn(pit, weight)
}

// update works out the curve of a stratum. Its C is shrunk towards that of all strata: the
// stratum's PITs are joined by pooledOutcomes new ones with the distribution of all.
func (m *memory) update(stratum int, f *feedback) {
	own, curve := &m.strata[stratum], &m.curves[stratum]
	// Weights in m.all times scale are weights in own.
	scale := pooledOutcomes * own.newest / m.all.total
	total := own.total + pooledOutcomes*own.newest
	sum, inverse := 0., f.inverse()
	for i := range own.weights {
		sum += own.weights[i] + scale*m.all.weights[i]
		curve[i+1] = max(curve[i], min(inverse.at(sum/total), 1))
	}
	curve[bins] = 1
}

// curve is a recalibration curve. Its i-th value replaces the forecast probability
// edges[i]; between edges it is interpolated. It rises from 0 to 1.
//
// A probability u is replaced by the level q with q + correction(q) = C(u). C is the
// distribution of PITs, and the correction is that of feedback.
type curve [bins + 1]float64

// apply replaces the probabilities of raw into dst.
func (c *curve) apply(raw, dst *delay.Distribution) {
	last, replaced := 0., 0.
	for i, p := range raw {
		if p != last {
			last = p
			k := bin(p)
			replaced = c[k] + (c[k+1]-c[k])*(min(p, edges[k+1])-edges[k])/(edges[k+1]-edges[k])
		}
		dst[i] = replaced
	}
}
