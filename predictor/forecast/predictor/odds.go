package predictor

import (
	"cmp"
	"maps"
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
//
// There are odds of all users together, to which each contributes little (joint). The odds
// of one user begin with those of all, and become worse as her own promises are missed. So
// the promises of a user who makes them fail become cautious, and those of others stay as
// they are. Her odds are never better than those of all: among many users some are lucky, and
// to trust their luck would be the winner's curse again.
type odds struct {
	users map[string]*[ranges]evidence // by name; "" for all users that are not known by name
	all   [ranges]tally                // the odds of all users together, as joint returns them
	// when revert last changed them, Unix seconds; 0 before its first call
	reverted int64
}

// budgets divide promises by their budget, in seconds, into ranges with odds of their own.
var budgets = [...]float64{900, 3600, 3 * 3600}

const ranges = len(budgets) + 1

// prior is what odds begin with: twice as many misses as expected, with the weight of one
// expected miss. One user teaches little, so that odds which begin too bold stay so for long.
var prior = tally{missed: 2, expected: 1}

const (
	// decay is the decay of a user's evidence per promise of hers: a half-life of 138
	// promises.
	decay = .995
	// halfLife is the number of seconds after which evidence has half of its weight.
	// Otherwise, once many misses have made the odds too bad for any promise, no outcome
	// could ever improve them.
	halfLife = 30 * 86_400
	// revertEvery is the number of seconds between two steps back to the prior.
	revertEvery = 3600
	// shrinkage is the weight, in expected misses, of the odds of all users in those of one.
	shrinkage = 2
	// named is what one promise of a named user counts, of one of the unnamed.
	named = 1. / 5
	// mostExpected is the most expected misses that one user counts for, and mostExcess bounds
	// the misses that count though they were not expected, as a share of all others'. Beside
	// the prior alone, one miss counts in full: mostExcess*prior.missed is named.
	mostExpected, mostExcess = 1. / 5, 1. / 10
	// mostUsers is the most users whose evidence is remembered.
	mostUsers = 1000
	// negligible is a number of misses, missed and expected, that is as good as none.
	negligible = .001
)

func newOdds() odds {
	o := odds{users: map[string]*[ranges]evidence{}}
	o.join()
	return o
}

// rangeOf returns the range of a budget in seconds.
func rangeOf(budget float64) int {
	i := 0
	for i < len(budgets) && budget >= budgets[i] {
		i++
	}
	return i
}

// ratio returns the ratio of misses to expected misses for the promises of a user.
func (o *odds) ratio(user string, budget float64) float64 {
	i := rangeOf(budget)
	all := o.all[i].ratio()
	own := o.users[user]
	if user == "" || own == nil {
		return all
	}
	return max(all, tally{shrinkage * all, shrinkage}.plus(own[i].sum()).ratio())
}

// correct returns the probability that may be promised to a user for a start within a budget
// in seconds. wait and lower are the probabilities of such a start in an Answer's Wait and
// Lower. Invariant: the result is at most wait.
func (o *odds) correct(user string, wait, lower, budget float64) float64 {
	return max(0, min(wait, 1-o.ratio(user, budget)*(1-lower)))
}

// learn takes in the outcome of a user's promise whose job has started.
func (o *odds) learn(made *promise, start int64) {
	own := o.users[made.user]
	if own == nil {
		if len(o.users) >= mostUsers {
			o.forget()
		}
		own = new([ranges]evidence)
		o.users[made.user] = own
	}
	e := &own[rangeOf(made.budget)]
	if made.user == "" { // who knows whose they are: each is a burst of its own
		e.end = made.submit - 1
	}
	e.learn(made.submit, start, made.miss, start > made.deadline)
	o.join()
}

// forget forgets the user with the least evidence. Of several, it forgets the first by name.
func (o *odds) forget() {
	weight := func(user string) float64 {
		sum := tally{}
		for i := range o.users[user] {
			sum = sum.plus(o.users[user][i].sum())
		}
		return sum.missed + sum.expected
	}
	delete(o.users, slices.MinFunc(slices.Collect(maps.Keys(o.users)), func(a, b string) int {
		return cmp.Or(cmp.Compare(weight(a), weight(b)), cmp.Compare(a, b))
	}))
}

// join brings the odds of all users together up to date.
func (o *odds) join() {
	names := slices.Sorted(maps.Keys(o.users))
	for i := range o.all {
		var unnamed tally
		var users []tally
		for _, name := range names {
			if sum := o.users[name][i].sum(); name == "" {
				unnamed = sum
			} else {
				users = append(users, sum)
			}
		}
		o.all[i] = joint(unnamed, users)
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
	factor := math.Exp2(-float64(since) / halfLife)
	for name, own := range o.users {
		sum := tally{}
		for i := range own {
			own[i].fade(factor)
			sum = sum.plus(own[i].sum())
		}
		if sum.missed+sum.expected < negligible {
			delete(o.users, name)
		}
	}
	o.join()
}

// Odds returns what has become of promises, by user and by range of budgets. It cannot be
// learnt from past jobs, so it must be saved to survive a restart.
func (p *Predictor) Odds() []forecast.Odds {
	list := []forecast.Odds{}
	users := p.promises.odds.users
	for _, name := range slices.Sorted(maps.Keys(users)) {
		for i := range users[name] {
			if sum := users[name][i].sum(); sum != (tally{}) {
				list = append(list, forecast.Odds{User: name, Range: i, Missed: sum.missed, Expected: sum.expected})
			}
		}
	}
	return list
}

// SetOdds restores what Odds returned. It ignores a list that Odds cannot have returned.
// Like an Observer's methods, it must not run at the same time as any other method.
func (p *Predictor) SetOdds(list []forecast.Odds) {
	restored := newOdds()
	for _, o := range list {
		if o.Range < 0 || o.Range >= ranges || !(o.Missed >= 0 && o.Expected >= 0) || math.IsInf(o.Missed+o.Expected, 1) {
			return
		}
		own := restored.users[o.User]
		if own == nil {
			own = new([ranges]evidence)
			restored.users[o.User] = own
		}
		own[o.Range].past = tally{o.Missed, o.Expected}
	}
	restored.join()
	p.promises.odds = restored
}
