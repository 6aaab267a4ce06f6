package fault

import (
	"math"
	"slices"
)

// voters are the models that vote: a constant rate, a rate of each node, one that fades, and the sum of all
// features.
const voters = 4

// vote mixes the probabilities of several models: each has as large a part as it would have if one of them
// had been right all the time (Bayes), but for a small share that is given to all alike after each window, so
// that another may take over (Herbster and Warmuth 1998). In n windows its log loss exceeds that of any one of
// them by no more than ln(voters) + n*forget.
type vote struct{ parts [voters]float64 }

// forget is that share.
const forget = .01

func newVote() (v vote) {
	for i := range v.parts {
		v.parts[i] = 1. / voters
	}
	return v
}

// losses adds to the log losses of the models what they lose by one node, given the failures that each expected.
func (v *vote) losses(sum *[voters]float64, expected [voters]float64, failed bool) {
	for i, risk := range expected {
		switch {
		case !failed:
			sum[i] += risk
		case risk > 0:
			sum[i] -= math.Log(-math.Expm1(-risk))
		default:
			sum[i] += surprise
		}
	}
}

// surprise is the loss of a model that knew of no risk where a node failed.
const surprise = 20.

func (v *vote) learn(losses *[voters]float64) {
	least, sum := slices.Min(losses[:]), 0.
	for i := range v.parts {
		v.parts[i] *= math.Exp(least - losses[i])
		sum += v.parts[i]
	}
	for i := range v.parts {
		v.parts[i] = (1-forget)*v.parts[i]/sum + forget/voters
	}
}

// risk returns the failures expected by all models together.
func (v *vote) risk(expected [voters]float64) float64 {
	well := 0.
	for i, risk := range expected {
		well += v.parts[i] * math.Exp(-risk)
	}
	return min(-math.Log(well), mostExpected)
}

// mostExpected is the most failures of a node that are expected within a horizon.
const mostExpected = 50
