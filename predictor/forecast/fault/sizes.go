package fault

import "math"

// sizes compares how often sets of nodes were hit in the windows of a learner with how often they
// would have been hit if nodes failed independently with their risks. Failures cluster, so sets are
// hit less often. The larger the set, the greater the difference.
type sizes struct {
	hit, expected [mostDoublings]float64 // share of all sets of 2^i nodes, summed over the windows
}

const (
	mostDoublings = 24
	// independent is the weight of the prior: so many sets of each size are assumed to have been
	// hit as expected.
	independent = 2
)

// learn takes in how many of all nodes failed in a window, and how many were expected to fail.
// About 1-(1-s/n)^failed of all sets of s among n nodes were hit.
func (z *sizes) learn(failed, nodes int, expected float64) {
	for i := range mostDoublings {
		part := float64(int(1)<<i) / float64(nodes)
		if part > 1 {
			return
		}
		if part == 1 {
			part = 1 - 1e-9
		}
		z.hit[i] += -math.Expm1(float64(failed) * math.Log1p(-part))
		z.expected[i] += -math.Expm1(-expected * part)
	}
}

// share returns how often a set of so many nodes was hit, divided by how often it would have been
// hit if nodes failed independently.
func (z *sizes) share(set int) float64 {
	doublings := math.Log2(float64(max(1, set)))
	low := int(doublings)
	ratio := func(i int) float64 {
		// no set of this size is known
		for ; i > 0 && (i >= mostDoublings || z.expected[i] == 0); i-- {
		}
		return (z.hit[i] + independent) / (z.expected[i] + independent)
	}
	return ratio(low) + (ratio(low+1)-ratio(low))*(doublings-float64(low))
}
