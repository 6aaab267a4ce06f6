package fault

import (
	"math"
	"slices"
)

// Vote mixes the forecasts of several models. Its elements are the models' parts in the mixture. A
// part is proportional to the probability that the model gave to the past (Bayes). After each
// window a small share is divided equally among all models, so that another one may take over
// (Herbster and Warmuth 1998). In n windows the log loss of a Vote of m models exceeds the log loss
// of any one model by at most -ln(p) + n*forget, where p is this model's part at first.
type Vote []float64

// forget is the share that is divided equally after each window.
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

// surprise is the loss of a model that saw no risk for a node that failed.
const surprise = 20.

// Learn takes in the log loss of each model in a window, in nats.
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

// Expected returns the number of failures of a node that the mixture expects. each has the numbers
// that the models expect.
func (v Vote) Expected(each []float64) float64 {
	well := 0.
	for i, expected := range each {
		well += v[i] * math.Exp(-expected)
	}
	return min(-math.Log(well), mostExpected)
}

// mostExpected is the largest number of failures of a node that is expected within a horizon.
const mostExpected = 50
