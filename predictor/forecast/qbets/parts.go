package qbets

import (
	"math"

	"github.com/varq-project/varq/predictor/delay"
)

// The clustering needs a likelihood, so it needs a model of the waits of a group. To compare
// two groups, the waits of both together are divided into parts. The parts are separated by
// the watched quantiles q and by the quantiles 1-q. The model of a group is the probability
// of each part. It covers what bounds depend on, the tails included, has an atom at 0 where
// the waits have one, and assumes no shape. A log-normal with an atom at 0 costs as little,
// but it would join groups that differ only in their tails.

// histogram counts waits by delay.Index.
type histogram [delay.Points + 1]int32

// parts divide all waits into ranges.
type parts struct {
	of     [delay.Points + 1]uint8 // by delay.Index, ascending: the part
	number int                     // of parts
}

// edges are the quantiles that separate parts, ascending.
var edges = func() (e [2 * len(watched)]float64) {
	for i, q := range watched {
		e[len(watched)+i] = q
		e[len(watched)-1-i] = 1 - q
	}
	return e
}()

// tally counts the waits of a group by part.
type tally [len(edges) + 1]int

// divide divides the n waits of h into parts. No part is empty.
func (h *histogram) divide(n int) (p parts) {
	count, passed, part := 0, 0, uint8(0)
	for i, k := range h {
		p.of[i] = part
		before := passed
		for count += int(k); passed < len(edges) && float64(count) >= edges[passed]*float64(n); {
			passed++
		}
		if passed > before && count < n {
			part++
		}
	}
	p.number = int(part) + 1
	return p
}

// tally returns how many waits of h are in each part.
func (p *parts) tally(h *histogram) (t tally) {
	for i, k := range h {
		t[p.of[i]] += int(k)
	}
	return t
}

// less returns t minus o. The waits of o must be among those of t.
func (t tally) less(o tally) tally {
	for i, k := range o {
		t[i] -= k
	}
	return t
}

// gain returns by how much the log-likelihood rises if two groups have probabilities of
// their own instead of common ones.
func (p *parts) gain(a, b tally) float64 {
	both := a
	for i, k := range b {
		both[i] += k
	}
	return a.logLikelihood() + b.logLikelihood() - both.logLikelihood()
}

// logLikelihood returns the logarithm of the maximum likelihood of t.
func (t *tally) logLikelihood() float64 {
	n, l := 0, 0.
	for _, k := range t {
		if k > 0 {
			l += float64(k) * math.Log(float64(k))
			n += k
		}
	}
	if n == 0 {
		return 0
	}
	return l - float64(n)*math.Log(float64(n))
}

// parameters returns the number of free parameters of a group's model.
func (p *parts) parameters() float64 { return float64(p.number - 1) }
