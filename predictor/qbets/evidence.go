package qbets

import (
	"math"

	"github.com/varq-project/varq/predictor/stats"
)

// evidence is what answers for a request: the past its forecasts come from, and
// the pasts of finer classes that are too short to forecast. Those few waits
// cannot vouch for anything, but they can object: a forecast never exceeds what
// they leave credible.
type evidence struct {
	past   *history
	sparse []*history
}

// gather finds the evidence for classes, in place of what e held. The past is
// that of the finest class with MinHistory waits or more, else of the coarsest
// there is; it is nil when nothing was learnt. The choice does not depend on the
// quantile or the budget asked for, or forecasts would not be monotone in them.
func (p *Predictor) gather(e *evidence, classes []Class) {
	e.past, e.sparse = nil, e.sparse[:0]
	for _, class := range classes {
		h := p.classes[class]
		if h == nil {
			continue
		}
		if e.past != nil {
			e.sparse = append(e.sparse, e.past)
		}
		e.past = h
		if h.len() >= p.least {
			return
		}
	}
}

// probability returns the lower confidence bound, at level c, on the
// probability of a wait within the budget that the past had within waits for,
// but no more than the upper confidence bound of any sparse class.
func (e *evidence) probability(within int, budget int64, c float64) float64 {
	prob := stats.LowerProportion(within, e.past.len(), c)
	for _, h := range e.sparse {
		n := h.len()
		few, _ := h.within(budget)
		prob = min(prob, 1-stats.LowerProportion(n-few, n, c))
	}
	return prob
}

// objection returns the greatest lower confidence bound, at level c, that a
// sparse class puts on the q-quantile, and which it is; nil when none does. It
// is the counterpart of the objections in probability.
func (e *evidence) objection(q, c float64) (wait uint32, by *history) {
	for _, h := range e.sparse {
		k, _, ok := stats.QuantileBound(h.len(), 1-q, c)
		if !ok {
			continue
		}
		if w := h.sorted.Select(h.len() - k); by == nil || w > wait {
			wait, by = w, h
		}
	}
	return wait, by
}

// within returns how many of the waits are within the budget, and their sum.
func (h *history) within(budget int64) (count int, sum int64) {
	if budget < 0 {
		return 0, 0
	}
	return h.sorted.Through(uint32(min(budget, math.MaxUint32)))
}
