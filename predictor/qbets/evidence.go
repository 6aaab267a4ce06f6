package qbets

import (
	"math"
	"sort"
)

// evidence is the past waits that answer for a request: those of its own class
// and, when they are too few, of the classes of the same partition that ask for
// at least as much. The much shorter and smaller jobs that most waits come from
// cannot vouch for it.
type evidence struct {
	class Class // holds all the requests whose waits these are
	pasts []*history
	waits int // in all pasts
}

// gather finds the evidence for a class, in place of what e held. It takes the
// pasts of the class's own QOS, the nearest first: larger jobs of the same limit,
// then longer ones. Then it takes those of other QOS in the same order. It stops
// at MinHistory waits, and holds fewer when there are no more. What it takes does
// not depend on the quantile or the budget asked for, or forecasts would not be
// monotone in them.
//
// Where nobody has asked for as much yet, as when all users of a site ask for the
// same limit and a reservation needs a little more, jobs of the next shorter
// limits vouch, but none shorter than those.
func (p *Predictor) gather(e *evidence, class Class) {
	if p.pool(e, class, Class.atLeast); e.waits == 0 {
		p.pool(e, class, Class.justShorter)
	}
}

// pool is gather among the classes that vouch for the one asked about.
func (p *Predictor) pool(e *evidence, class Class, vouches func(one, asked Class) bool) {
	e.class, e.pasts, e.waits = class, e.pasts[:0], 0
	for _, own := range [...]bool{true, false} {
		for _, h := range p.partitions[class.Partition] {
			if !vouches(h.class, class) || (h.class.QOS == class.QOS) != own {
				continue
			}
			e.class = e.class.widened(h.class)
			e.pasts = append(e.pasts, h)
			e.waits += h.len()
			if e.waits >= p.least {
				return
			}
		}
	}
}

// within returns how many of the waits are within the budget, and their sum.
func (e *evidence) within(budget int64) (count int, sum int64) {
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

// smallest returns the k-th smallest wait, seconds; 1 <= k <= e.waits.
func (e *evidence) smallest(k int) int64 {
	return int64(sort.Search(math.MaxUint32, func(wait int) bool {
		n, _ := e.within(int64(wait))
		return n >= k
	}))
}

// changed returns the time of the last change point in any of the pasts, Unix
// seconds, or 0.
func (e *evidence) changed() int64 {
	var last int64
	for _, h := range e.pasts {
		last = max(last, h.changed)
	}
	return last
}
