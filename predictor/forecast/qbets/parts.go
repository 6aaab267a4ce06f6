package qbets

import (
	"math"

	"github.com/varq-project/varq/predictor/delay"
)

// The clustering needs a model of the waits of a group, of which it can tell how
// likely it makes them. It is this: the waits of the groups that are compared are
// divided, all together, at the quantiles that are watched for change points, on
// both sides; a group's model is the probability of each part. That says all that
// the bounds will be asked, what happens in the tails included, has an atom at 0
// where the waits have one, and leaves the shape of their distribution open. A
// log-normal with an atom at 0 is as quick, but joins groups that differ in their
// tails alone.

// histogram counts waits by delay.Index.
type histogram [delay.Points + 1]int32

// parts are ranges of waits.
type parts struct {
	of     [delay.Points + 1]uint8 // by delay.Index, ascending
	number int
}

// edges are the quantiles that part waits from one another: what is watched.
var edges = func() (e [2 * len(watched)]float64) {
	for i, q := range watched {
		e[len(watched)+i] = q
		e[len(watched)-1-i] = 1 - q
	}
	return e
}()

// tally counts the waits of a group by part.
type tally [len(edges) + 1]int

// divide parts waits, of which there are n. Parts that would be empty are left
// out.
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

// less returns t without the waits of o, which are among them.
func (t tally) less(o tally) tally {
	for i, k := range o {
		t[i] -= k
	}
	return t
}

// gain returns by how much the logarithm of the likelihood rises when two groups
// have probabilities of their own.
func (p *parts) gain(a, b tally) float64 {
	both := a
	for i, k := range b {
		both[i] += k
	}
	return a.logLikelihood() + b.logLikelihood() - both.logLikelihood()
}

// logLikelihood returns the logarithm of the greatest likelihood of so many waits
// in each part.
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

// parameters returns how many numbers a group's model has.
func (p *parts) parameters() float64 { return float64(p.number - 1) }
