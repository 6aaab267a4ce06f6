// Package offer says how much may be offered, and when an offer holds that somebody takes.
//
// An offer is a promise that waits for its user while she reads it. Its probability is from the
// time at which it was made. Until she takes it, the forecast has changed: by what happens on the
// cluster, and by the chance in its simulations. It has risen as often as it has fallen. So offers
// are kept as often as they say if all of them hold, whatever the forecast is by then.
package offer

import "github.com/varq-project/varq/predictor/prob"

// Patience is for how many seconds an offer holds.
const Patience = 60

// The deadline comes nearer meanwhile, and jobs that are submitted first go first. So an offer
// leaves slack, or slackShare of the risk if that is less.
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

// leastLeft is the least share of a probability that is left of an offer that holds. A forecast
// that has fallen further tells of an outage, or the like, and not of chance.
const leastLeft = .5

// Holds reports whether a probability that was offered is promised with the forecast now.
func Holds(probability, forecast float64) bool { return forecast >= leastLeft*probability }
