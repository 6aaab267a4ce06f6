package forecast

import (
	"math"
	"slices"

	"github.com/varq-project/varq/predictor/forecast/pending"
	"github.com/varq-project/varq/predictor/workload"
)

// promises tell what forecasts are worth that were chosen to promise something.
//
// Who looks at many submissions, again and again, and takes the cheapest that is
// forecast to be good enough, takes those of which too much is forecast more often
// than others: forecasts that hold on average do not hold on average where they are
// chosen (the winner's curse), least where little time is left. On the other hand
// the lower bounds that promises rest on are meant to hold more often than they say.
// So the probability of missing a promise is taken to be as many times the one said
// as there were misses for those that were said.
type promises struct {
	made pending.Sample[promise]
	odds [len(margins) + 1]Odds
	told int64 // until when odds have been forgiven
}

// margins are budgets, in seconds, between which promises fare alike.
var margins = [...]float64{900, 3600, 3 * 3600}

// Odds are how many promises were Missed, and were Said to be; of late, more or less.
type Odds struct{ Missed, Said float64 }

// unproven are odds before anything is known: somewhat worse than said, as if that
// had been seen in the time in which one miss was said.
var unproven = Odds{Missed: 1.5, Said: 1}

// recent is how much of the odds is left with each promise.
const recent = .995

// forgiven is after how many seconds odds are halfway back to what they were before
// anything was known. Where so many promises were missed that none is made any more,
// nothing else would show that others would be kept. That is done once in forgive
// seconds.
const (
	forgiven = 30 * 86_400
	forgive  = 3600
)

// promise is what was said of a job that was promised a start.
type promise struct {
	submit, deadline int64   // Unix seconds
	budget           float64 // from submit to deadline, in seconds, when that was decided
	miss             float64 // the probability that it starts later, at most
}

func newPromises() promises {
	p := promises{made: pending.New[promise]()}
	for i := range p.odds {
		p.odds[i] = unproven
	}
	return p
}

// of returns the odds of promises with this budget.
func (p *promises) of(budget float64) *Odds {
	i := 0
	for i < len(margins) && budget >= margins[i] {
		i++
	}
	return &p.odds[i]
}

// prob returns the probability that may be promised with a budget of which an
// answer says that it suffices with probability wait, and lower at least.
func (p *promises) prob(wait, lower, budget float64) float64 {
	o := p.of(budget)
	return max(0, min(wait, 1-o.Missed/o.Said*(1-lower)))
}

// Promise tells that a job is to be submitted as q says because of what is forecast
// of a start by a deadline, Unix seconds, and whether what was promised holds. What
// counts is what was forecast when that was decided, so to tell it again changes
// nothing unless q.Submit is another: who looks until the end knows what will be
// missed, and may not be able to help it. For the same reason a job that is moved
// since its promise no longer holds is still the promise that it was: that it was
// made too boldly is to be learnt.
//
// Like an Observer's methods it must not be called at the same time as any other.
func (p *Predictor) Promise(job int64, q *Question, deadline int64, holds bool) {
	made := &p.promises.made
	old, ok := made.Get(job)
	switch {
	case ok && old.submit == q.Submit, !made.Wants(job):
	case ok && !holds:
		old.submit = q.Submit
		made.Put(job, old)
	default:
		budget := float64(deadline - q.Submit)
		var a Answer
		if p.Forecast(q, &a) {
			made.Put(job, promise{q.Submit, deadline, budget, 1 - a.Lower.Within(budget)})
		}
	}
}

// Odds returns what has become of promises, which no past tells of: those with small
// budgets first.
func (p *Predictor) Odds() []Odds { return slices.Clone(p.promises.odds[:]) }

// SetOdds takes over what Odds returned. Like an Observer's methods it must not be
// called at the same time as any other. What is no Odds is ignored.
func (p *Predictor) SetOdds(list []Odds) {
	nonsense := func(o Odds) bool { return !(o.Missed >= 0 && o.Said > 0) || math.IsInf(o.Missed+o.Said, 1) }
	if len(list) == len(p.promises.odds) && !slices.ContainsFunc(list, nonsense) {
		copy(p.promises.odds[:], list)
	}
}

// forgive brings the odds nearer to what they were, once in a while.
func (p *promises) forgive(now int64) {
	if p.told == 0 {
		p.told = now
	}
	since := now - p.told
	if since < forgive {
		return
	}
	p.told = now
	gone := 1 - math.Exp2(-float64(since)/forgiven)
	for i := range p.odds {
		o := &p.odds[i]
		o.Missed += gone * (unproven.Missed - o.Missed)
		o.Said += gone * (unproven.Said - o.Said)
	}
}

// started learns from a job that was promised a start.
func (p *promises) started(j *workload.Job) {
	p.forgive(j.Start)
	made, ok := p.made.Take(j.ID)
	if !ok || made.submit != j.Since() {
		return
	}
	o := p.of(made.budget)
	o.Missed, o.Said = recent*o.Missed, recent*o.Said+made.miss
	if j.Start > made.deadline {
		o.Missed++
	}
}

// ended forgets a job that did not start.
func (p *promises) ended(j *workload.Job) { p.made.Take(j.ID) }
