package recalibration

import "math"

// histogram counts PITs by bin. The weight of a PIT decays by a factor with each newer one of
// weight 1.
//
// Only the ratios of weights matter. So learn does not make the older weights smaller: it
// makes the newest larger, and divides all of them before they grow too large.
type histogram struct {
	decay   float64       // per PIT of weight 1
	weights [bins]float64 // by bin, the sum of the weights of its PITs
	newest  float64       // the weight of a PIT of weight 1 that comes now
	total   float64       // sum of weights
}

// newHistogram returns a uniform histogram that has the total weight prior, as of that
// many PITs of weight 1.
func newHistogram(decay, prior float64) histogram {
	h := histogram{decay: decay, newest: 1, total: prior}
	for i := range h.weights {
		h.weights[i] = prior * (edges[i+1] - edges[i])
	}
	return h
}

// learn adds a PIT of a weight.
func (h *histogram) learn(pit, weight float64) {
	h.newest /= math.Pow(h.decay, weight)
	weight *= h.newest
	h.weights[bin(pit)] += weight
	h.total += weight
	if h.newest > 1e9 {
		for i := range h.weights {
			h.weights[i] /= h.newest
		}
		h.total /= h.newest
		h.newest = 1
	}
}
