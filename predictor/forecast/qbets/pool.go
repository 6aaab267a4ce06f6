package qbets

import (
	"math"
	"sort"

	"github.com/varq-project/varq/predictor/delay"
	"github.com/varq-project/varq/predictor/stats"
)

// pool is the past waits that answer for a request: those of its own class
// and, when they are too few, of the classes of the same service that ask for
// at least as much. The much shorter and smaller jobs that most waits come from
// cannot vouch for it.
//
// The jobs that wait now are right-censored observations. Of a budget d they tell
// this: one that has waited longer than d is a failure of "it starts within d"
// already now, and one that has not tells nothing. So of n waits, k of which are
// within d, and m jobs that have waited longer, k of n+m have started in time.
//
// The bound from k of n+m is a lower confidence bound whatever the jobs that wait
// have to do with one another or with the past: the one from k of n is, by the
// binomial argument, as the newest n starts of a stationary queue are a fair
// sample of its waits; and Clopper and Pearson's bound falls as n grows, so that
// counting failures that the sample lacks can only lower it. The estimate of
// Kaplan and Meier would lower it more. It is made for a cohort that is followed
// from its entry, in which a long wait is missed more often than a short one; in a
// sample of starts it is not, and to hand the share of each job that waits to the
// longer waits of the sample would count these twice.
//
// As d grows, k does not fall and m does not rise, so bounds are monotone. If more
// than 1-q of n+m wait for longer than d, then k/(n+m) < q: no bound on the
// q-quantile is as short as d.
type pool struct {
	class Class // holds all the requests whose waits these are
	pasts []*history
	waits int   // in all pasts
	now   int64 // Unix seconds

	tenant *tenant // whose ranks among the waits count, or nil
	few    bool    // too few waits for a bound by ranks, which were taken among more
}

// fill finds the evidence for a class of a service, in place of what e held. It
// takes the class's own past, then those of the same QOS: larger jobs of the same
// limit, then longer ones. Then it takes those of other QOS in the same order. It
// stops at a number of waits, and holds fewer when there are no more. What it
// takes does not depend on the quantile or the budget asked for, or forecasts
// would not be monotone in them.
//
// Where nobody has asked for as much yet, as when all users of a site ask for the
// same limit and a reservation needs a little more, jobs of the next shorter
// limits vouch, but none shorter than those.
func (e *pool) fill(s *service, class Class, enough int) {
	e.take(s, class, enough, Class.atLeast)
	if e.waits == 0 {
		e.take(s, class, enough, Class.justShorter)
	}
}

// take is fill among the classes that vouch for the one asked about.
func (e *pool) take(s *service, class Class, enough int, vouches func(one, asked Class) bool) {
	e.class, e.pasts, e.waits = class, e.pasts[:0], 0
	if i, known := s.search(class); known {
		e.pasts = append(e.pasts, s.classes[i])
		e.waits = s.classes[i].len()
	}
	for _, same := range [...]bool{true, false} {
		for _, h := range s.classes {
			if e.waits >= enough {
				return
			}
			if h.class == class || (h.class.QOS == class.QOS) != same || !vouches(h.class, class) {
				continue
			}
			e.class = e.class.widened(h.class)
			e.pasts = append(e.pasts, h)
			e.waits += h.len()
		}
	}
}

// within returns how many of the waits are within the budget, and their sum.
func (e *pool) within(budget int64) (count int, sum int64) {
	if budget < 0 {
		return 0, 0
	}
	for _, h := range e.pasts {
		n, s := h.sorted.Through(uint32(min(budget, math.MaxUint32)))
		count += n
		sum += s
	}
	return count, sum
}

// overdue returns how many jobs have waited for longer than the budget.
func (e *pool) overdue(budget int64) int {
	n := 0
	for _, h := range e.pasts {
		n += h.overdue(e.now, max(0, budget))
	}
	return n
}

// trials returns of how many jobs it is known whether they started within the
// budget, and how many did. Of a tenant they are its own.
func (e *pool) trials(budget int64) (started, n int) {
	started, _ = e.within(budget)
	n = e.waits + e.overdue(budget)
	if e.tenant != nil && !e.few {
		return e.tenant.within(started, n+1), e.tenant.ranks.n
	}
	return started, n
}

// held returns the mean of what the waits leave of a budget, seconds.
func (e *pool) held(budget int64) float64 {
	k, sum := e.within(budget)
	return (float64(budget)*float64(k) - float64(sum)) / float64(e.waits+e.overdue(budget))
}

// bound bounds the q-quantile of the wait with a confidence, which it returns as
// it was achieved. Where neither jobs that wait nor ranks count, the bound is the
// index-th smallest wait of the pool; else it is the least that will do, and index
// is how many waits are within it.
func (e *pool) bound(q, c float64) (seconds int64, index int, confidence float64, ok bool) {
	if e.tenant == nil || e.few {
		index, confidence, ok = stats.QuantileBound(e.waits, q, c)
		if !ok {
			return 0, 0, 0, false
		}
		if seconds = e.smallest(index); e.overdue(seconds) == 0 {
			return seconds, index, confidence, true
		}
	}
	more := e.smallest(e.waits) - seconds
	seconds += int64(sort.Search(int(more)+1, func(i int) bool { return e.confidence(seconds+int64(i), q) >= c }))
	if confidence = e.confidence(seconds, q); confidence < c {
		return 0, 0, 0, false
	}
	index, _ = e.within(seconds)
	return seconds, index, confidence, true
}

// confidence returns how surely the q-quantile is within the budget.
func (e *pool) confidence(budget int64, q float64) float64 {
	k, n := e.trials(budget)
	return stats.AtMost(k-1, n, q)
}

// smallest returns the k-th smallest wait, seconds; 1 <= k <= e.waits.
func (e *pool) smallest(k int) int64 {
	if len(e.pasts) == 1 {
		return int64(e.pasts[0].sorted.Select(k - 1))
	}
	return int64(sort.Search(math.MaxUint32, func(wait int) bool {
		n, _ := e.within(int64(wait))
		return n >= k
	}))
}

// distribution estimates the distribution of the wait on delay's grid. Of a
// tenant, what is worse than every wait of the pool is taken to be the worst of
// them, and everyone's service counts as one more of its ranks.
func (e *pool) distribution(d *delay.Distribution) {
	count := 0
	for i := range d {
		for _, h := range e.pasts {
			count += int(h.counts[i])
		}
		n := e.waits + e.overdue(int64(delay.At(i))) + 1
		d[i] = float64(count) / float64(n)
		if e.tenant == nil {
			continue
		}
		k := e.tenant.ranks.n
		if count < n-1 {
			k = e.tenant.within(count, n)
		}
		d[i] = (float64(k) + d[i]) / float64(e.tenant.ranks.n+1)
	}
}

// changed returns the time of the last change point in any of the pasts, Unix
// seconds, or 0.
func (e *pool) changed() int64 {
	var last int64
	for _, h := range e.pasts {
		last = max(last, h.changed)
	}
	return last
}
