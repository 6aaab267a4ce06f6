package recalibration

// histogram counts PITs by bin, with weights that decay by a factor for each PIT that
// follows.
//
// Only the ratios of weights matter. So instead of making all older weights smaller,
// learn makes the newest larger, and scales all of them down before they grow too large.
type histogram struct {
	decay   float64       // per PIT
	weights [bins]float64 // sums of the weights of the PITs in each bin
	newest  float64       // the weight of the newest PIT
	total   float64       // sum of weights
	squares float64       // sum of the squared weights of all PITs
}

// newHistogram returns one that is uniform, as of so many PITs of weight 1.
func newHistogram(decay, prior float64) histogram {
	h := histogram{decay: decay, newest: 1, total: prior, squares: prior}
	for i := range h.weights {
		h.weights[i] = prior * (edges[i+1] - edges[i])
	}
	return h
}

// learn adds a PIT.
func (h *histogram) learn(pit float64) {
	h.newest /= h.decay
	h.weights[bin(pit)] += h.newest
	h.total += h.newest
	h.squares += h.newest * h.newest
	if h.newest > 1e9 {
		for i := range h.weights {
			h.weights[i] /= h.newest
		}
		h.total /= h.newest
		h.squares /= h.newest * h.newest
		h.newest = 1
	}
}

// effective returns the effective sample size (Kish): how many PITs of equal weight
// say as much.
func (h *histogram) effective() float64 { return h.total * h.total / h.squares }
