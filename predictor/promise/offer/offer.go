// Package offer says how much may be offered, so that an offer still holds when somebody takes it.
//
// An offer is read, and pasted a little later. Until then the deadline has come nearer, and the
// forecast has changed: by what happens on the cluster, and by the chance in its simulations.
package offer

import "github.com/varq-project/varq/predictor/prob"

// Patience is for how many seconds an offer holds.
const Patience = 60

// An offer holds if the forecast falls by slack meanwhile, or by slackShare of the risk if that is
// less.
const (
	slack      = .02
	slackShare = .25
	rounding   = 1e-9 // of differences of probabilities
)

// Enough returns the forecast, Patience seconds before, with which a probability may be offered.
func Enough(probability float64) float64 {
	return probability + min(slack, slackShare*(1-probability)) - rounding
}

// Most returns the greatest probability, in whole percents, that may be offered with a forecast for
// Patience seconds later: the inverse of Enough. It is not positive if there is none.
func Most(forecast float64) float64 {
	return prob.Percent(max(forecast-slack, (forecast-slackShare)/(1-slackShare)) + rounding)
}

// mostFallen is by how much the forecast may have fallen below the probability that was offered.
const mostFallen = .05

// Needed returns the forecast with which a probability is promised. If it was offered a moment ago,
// with an estimate that is not 0, two forecasts tell more than one: their mean has to be as high as
// what was offered.
func Needed(probability, estimate float64) float64 {
	if estimate == 0 {
		return probability
	}
	return max(2*probability-estimate, probability-mostFallen)
}

// Mean returns the estimate of a promise whose offer had an estimate, from the forecast now: no
// less than that.
func Mean(forecast, estimate float64) float64 { return max(forecast, (forecast+estimate)/2) }
