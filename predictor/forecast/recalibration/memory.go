package recalibration

import "github.com/varq-project/varq/predictor/delay"

const (
	prior = 10.  // outcomes that a new memory takes to have borne out the forecasts
	pull  = 300. // outcomes that those of all strata count for in each stratum
)

// memory is the PITs of past forecasts, of all and of each stratum, with one
// half-life, and the curves that follow from them.
type memory struct {
	all    histogram
	strata [strata]histogram
	curves [strata]curve
}

func newMemory(decay float64, f *feedback) (m memory) {
	m.all = newHistogram(decay, prior)
	for i := range m.strata {
		m.strata[i] = newHistogram(decay, 0)
		m.update(i, f)
	}
	return m
}

// learn takes in the PIT of a forecast of a stratum.
func (m *memory) learn(stratum int, pit float64) {
	m.all.learn(pit)
	m.strata[stratum].learn(pit)
}

// update works out the curve of a stratum. Its distribution C of PITs is shrunk
// towards that of all strata, as if pull of those had come true in it.
func (m *memory) update(stratum int, f *feedback) {
	own, curve := &m.strata[stratum], &m.curves[stratum]
	// The weight, in the stratum's units, of one unit of the PITs of all strata.
	others := pull * own.newest / m.all.total
	total := own.total + pull*own.newest
	sum, levels := 0., f.inverse()
	for i := range own.weights {
		sum += own.weights[i] + others*m.all.weights[i]
		curve[i+1] = max(curve[i], min(levels.at(sum/total), 1))
	}
	curve[bins] = 1
}

// curve is a recalibration curve: what a forecast probability is replaced by, at the
// edges of the bins. It rises from 0 to 1.
//
// A probability u is replaced by the level q for which q + correction(q) = C(u), where C
// is the distribution of PITs and the correction is the feedback's.
type curve [bins + 1]float64

// apply replaces the probabilities of a forecast.
func (c *curve) apply(raw, to *delay.Distribution) {
	last, replaced := 0., 0.
	for i, p := range raw {
		if p != last {
			last = p
			k := bin(p)
			replaced = c[k] + (c[k+1]-c[k])*(min(p, edges[k+1])-edges[k])/(edges[k+1]-edges[k])
		}
		to[i] = replaced
	}
}
