package predictor

import (
	"math"
	"slices"

	"github.com/varq-project/varq/predictor/forecast"
)

// odds correct forecasts for the winner's curse.
//
// A planner looks at many submissions, again and again, and takes the cheapest that is
// forecast to be good enough. It thus prefers those whose forecast errs on the good
// side: forecasts that hold on average do not hold where they are chosen, least of all
// where the budget is small. On the other hand a promise rests on a lower bound, which
// is meant to hold more often than it says. So the probability of missing a promise is
// taken to be the one forecast, times how many promises were missed for each that was
// expected to be.
type odds struct {
	by       [len(budgets) + 1]forecast.Odds // by class of budgets, the smallest first
	reverted int64                           // until when, Unix seconds; 0 before the first event
}

// budgets divide promises into classes that fare alike, in seconds.
var budgets = [...]float64{900, 3600, 3 * 3600}

// prior is what is taken for granted before any promise: somewhat worse than expected,
// with the weight of one expected miss.
var prior = forecast.Odds{Missed: 1.5, Expected: 1}

const (
	// decay is the factor by which older promises weigh less with each: a half-life of
	// 138 promises.
	decay = .995
	// priorHalfLife is after how many seconds odds are halfway back to the prior. If so
	// many promises were missed that none is made any more, no outcome could ever show
	// that they would be kept again.
	priorHalfLife = 30 * 86_400
	// revertEvery is how many seconds apart odds revert towards the prior.
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

// correct returns the probability that may be promised of a start within a budget.
// wait and lower are what an Answer's Wait and Lower say of it. Invariant: it is no
// more than wait.
func (o *odds) correct(wait, lower, budget float64) float64 {
	of := o.of(budget)
	return max(0, min(wait, 1-of.Missed/of.Expected*(1-lower)))
}

// learn takes in what became of a promise, which was expected to be missed with a
// probability.
func (o *odds) learn(budget, expected float64, missed bool) {
	of := o.of(budget)
	of.Missed, of.Expected = decay*of.Missed, decay*of.Expected+expected
	if missed {
		of.Missed++
	}
}

// revert brings the odds nearer to the prior, as time goes by.
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

// Odds returns the odds of promises by class of budgets, the smallest first. They
// cannot be learnt from past jobs, so who restarts must save them.
func (p *Predictor) Odds() []forecast.Odds { return slices.Clone(p.promises.odds.by[:]) }

// SetOdds restores what Odds returned. It ignores anything else. Like an Observer's
// methods it must not run at the same time as any other.
func (p *Predictor) SetOdds(list []forecast.Odds) {
	invalid := func(o forecast.Odds) bool {
		return !(o.Missed >= 0 && o.Expected > 0) || math.IsInf(o.Missed+o.Expected, 1)
	}
	if by := p.promises.odds.by[:]; len(list) == len(by) && !slices.ContainsFunc(list, invalid) {
		copy(by, list)
	}
}
