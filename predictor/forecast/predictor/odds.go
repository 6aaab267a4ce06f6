package predictor

import (
	"math"
	"slices"

	"github.com/varq-project/varq/predictor/forecast"
)

// odds correct forecasts for the winner's curse.
//
// A planner looks at many submissions, again and again, and takes the cheapest whose
// forecast is good enough. It thus prefers submissions whose forecast is too good.
// Probabilities that come true as often as they say on average come true less often where
// they are chosen, above all where the budget is small. On the other hand, a promise rests
// on a lower bound, which is meant to come true more often than it says. So the forecast
// probability of a miss is multiplied by the ratio of misses to expected misses in past
// promises.
type odds struct {
	by       [len(budgets) + 1]forecast.Odds // by range of budgets, the smallest first
	reverted int64                           // when revert last changed them, Unix seconds; 0 before its first call
}

// budgets divide promises by their budget, in seconds, into ranges with odds of their own.
var budgets = [...]float64{900, 3600, 3 * 3600}

// prior is what odds begin with: somewhat more misses than expected, with the weight of one
// expected miss.
var prior = forecast.Odds{Missed: 1.5, Expected: 1}

const (
	// decay is the decay of odds per promise: a half-life of 138 promises.
	decay = .995
	// priorHalfLife is the number of seconds after which odds are halfway back to the
	// prior. Otherwise, once many misses have made the odds too bad for any promise, no
	// outcome could ever improve them.
	priorHalfLife = 30 * 86_400
	// revertEvery is the number of seconds between two steps back to the prior.
	revertEvery = 3600
)

func newOdds() (o odds) {
	for i := range o.by {
		o.by[i] = prior
	}
	return o
}

// of returns the odds of promises with a budget in seconds.
func (o *odds) of(budget float64) *forecast.Odds {
	i := 0
	for i < len(budgets) && budget >= budgets[i] {
		i++
	}
	return &o.by[i]
}

// correct returns the probability that may be promised for a start within a budget in
// seconds. wait and lower are the probabilities of such a start in an Answer's Wait and
// Lower. Invariant: the result is at most wait.
func (o *odds) correct(wait, lower, budget float64) float64 {
	of := o.of(budget)
	return max(0, min(wait, 1-of.Missed/of.Expected*(1-lower)))
}

// learn takes in the outcome of a promise. expected is the forecast probability of a miss.
func (o *odds) learn(budget, expected float64, missed bool) {
	of := o.of(budget)
	of.Missed, of.Expected = decay*of.Missed, decay*of.Expected+expected
	if missed {
		of.Missed++
	}
}

// revert moves the odds towards the prior, by the time since it last did.
func (o *odds) revert(now int64) {
	if o.reverted == 0 {
		o.reverted = now
	}
	since := now - o.reverted
	if since < revertEvery {
		return
	}
	o.reverted = now
	part := 1 - math.Exp2(-float64(since)/priorHalfLife)
	for i := range o.by {
		of := &o.by[i]
		of.Missed += part * (prior.Missed - of.Missed)
		of.Expected += part * (prior.Expected - of.Expected)
	}
}

// Odds returns the odds of promises by range of budgets, the smallest first. They cannot
// be learnt from past jobs, so they must be saved to survive a restart.
func (p *Predictor) Odds() []forecast.Odds { return slices.Clone(p.promises.odds.by[:]) }

// SetOdds restores what Odds returned. It ignores a list that Odds cannot have returned.
// Like an Observer's methods, it must not run at the same time as any other method.
func (p *Predictor) SetOdds(list []forecast.Odds) {
	invalid := func(o forecast.Odds) bool {
		return !(o.Missed >= 0 && o.Expected > 0) || math.IsInf(o.Missed+o.Expected, 1)
	}
	if by := p.promises.odds.by[:]; len(list) == len(by) && !slices.ContainsFunc(list, invalid) {
		copy(by, list)
	}
}
