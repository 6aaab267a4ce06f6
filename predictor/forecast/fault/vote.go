package fault

import (
	"math"
	"slices"
)

// Vote mixes the forecasts of several models: it is the part that each has in it. A part is as
// large as it would be if one of the models had been right all the time (Bayes), but for a small
// share that is given to all alike after each window, so that another may take over (Herbster and
// Warmuth 1998). In n windows the log loss of a Vote of m models exceeds that of any one of them by
// no more than -ln(p) + n*forget, where p is the part that the one had at first.
type Vote []float64

// forget is that share.
const forget = .01

// NewVote returns a Vote in which all models have the same part.
func NewVote(models int) Vote {
	v := make(Vote, models)
	for i := range v {
		v[i] = 1 / float64(models)
	}
	return v
}

// Loss is the log loss, in nats, of a model that expected so many failures of a node.
func Loss(expected float64, failed bool) float64 {
	switch {
	case !failed:
		return expected
	case expected > 0:
		return -math.Log(-math.Expm1(-expected))
	}
	return surprise
}

// surprise is the loss of a model that knew of no risk where a node failed.
const surprise = 20.

// Learn takes in what each model has lost in a window, in nats.
func (v Vote) Learn(losses []float64) {
	least, sum := slices.Min(losses), 0.
	for i := range v {
		v[i] *= math.Exp(least - losses[i])
		sum += v[i]
	}
	for i := range v {
		v[i] = (1-forget)*v[i]/sum + forget/float64(len(v))
	}
}

// Expected returns the failures of a node that all models together expect, where each expects so
// many.
func (v Vote) Expected(each []float64) float64 {
	well := 0.
	for i, expected := range each {
		well += v[i] * math.Exp(-expected)
	}
	return min(-math.Log(well), mostExpected)
}

// mostExpected is the most failures of a node that are expected within a horizon.
const mostExpected = 50
