package qbets

import (
	"math"
	"sort"

	"github.com/varq-project/varq/predictor/delay"
	"github.com/varq-project/varq/predictor/stats"
)

// pool is the past waits that answer for a request. They are the waits of its own class
// and, if these are too few, of the classes of the same partition that ask for at least as
// much. Shorter and smaller jobs are left out: their waits say too little of the request.
//
// Jobs that wait now are right-censored observations. Let d be a budget. A job that has
// already waited longer than d is a failure of "it starts within d". A job that has not
// tells nothing yet. So with n past waits, k of them within d, and m jobs that have waited
// longer than d, k of n+m jobs have started in time.
//
// The bound from k of n+m is a lower confidence bound, however the waiting jobs depend on
// one another or on the past. First, the bound from k of n is one, by the binomial argument:
// the newest n starts of a stationary queue are a fair sample of its waits. Second, Clopper
// and Pearson's bound falls as n grows, so to count more failures can only lower it.
//
// The Kaplan-Meier estimator would lower the bound further. It is made for a cohort that is
// followed from its entry, where long waits are observed less often than short ones. In a
// sample of starts they are not. To add the weight of waiting jobs to the longer waits of
// the sample would count these waits twice.
//
// As d grows, k does not fall and m does not rise, so bounds are monotone. If more
// than 1-q of n+m jobs wait for longer than d, then k/(n+m) < q: no bound on the
// q-quantile is as short as d.
type pool struct {
	class Class      // includes all requests whose waits these are
	pasts []*history // of the classes whose waits are in the pool
	waits int        // the number of waits in all pasts
	now   int64      // Unix seconds

	tenant *tenant // if not nil, its ranks among the waits count instead of the waits
	few    bool    // too few waits for a bound by ranks: ranks were taken among more
}

// fill replaces the contents of e by the waits that answer for a class of a service. It
// adds the class's own past first. As long as there are fewer waits than enough, it adds
// the classes of the same QOS: those of larger jobs with the same limit, then those of
// longer limits. Then it adds classes of other QOS in the same order. The choice does not
// depend on the quantile or the budget asked for; otherwise forecasts would not be monotone
// in them.
//
// It may be that nobody has asked for as much yet: all users of a site ask for the same
// limit, say, and a reservation needs a little more. Then fill adds the classes with the
// next shorter limits, and none with shorter ones.
func (e *pool) fill(s *service, class Class, enough int) {
	e.take(s, class, enough, Class.atLeast)
	if e.waits == 0 {
		e.take(s, class, enough, Class.justShorter)
	}
}

// take fills e with classes for which vouches is true: that answer for the class asked about.
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

// within returns the number of waits within a budget in seconds, and their sum.
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

// overdue returns how many jobs that wait now have waited for longer than the budget.
func (e *pool) overdue(budget int64) int {
	n := 0
	for _, h := range e.pasts {
		n += h.overdue(e.now, max(0, budget))
	}
	return n
}

// trials returns the number n of jobs of which it is known whether they started within the
// budget, and how many of them did. For a tenant, it counts ranks instead of jobs.
func (e *pool) trials(budget int64) (started, n int) {
	started, _ = e.within(budget)
	n = e.waits + e.overdue(budget)
	if e.tenant != nil && !e.few {
		return e.tenant.within(started, n+1), e.tenant.ranks.n
	}
	return started, n
}

// held returns how many seconds of a budget are left after the wait, on average.
func (e *pool) held(budget int64) float64 {
	k, sum := e.within(budget)
	return (float64(budget)*float64(k) - float64(sum)) / float64(e.waits+e.overdue(budget))
}

// bound bounds the q-quantile of the wait with confidence c. It returns the bound and the
// confidence achieved. index is the number of the pool's waits within the bound. Without a
// tenant or overdue jobs, the bound is the index-th smallest wait. Otherwise it is the
// least number of seconds that has the confidence.
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

// confidence returns the confidence with which the q-quantile is within the budget.
func (e *pool) confidence(budget int64, q float64) float64 {
	k, n := e.trials(budget)
	return stats.AtMost(k-1, n, q)
}

// smallest returns the k-th smallest wait in seconds; 1 <= k <= e.waits.
func (e *pool) smallest(k int) int64 {
	if len(e.pasts) == 1 {
		return int64(e.pasts[0].sorted.Select(k - 1))
	}
	return int64(sort.Search(math.MaxUint32, func(wait int) bool {
		n, _ := e.within(int64(wait))
		return n >= k
	}))
}

// distribution estimates the distribution of the wait on delay's grid. For a tenant, a rank
// worse than every wait of the pool stands for the longest of them. The distribution of all
// jobs is added with the weight of one more rank.
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
