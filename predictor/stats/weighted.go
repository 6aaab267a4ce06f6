package stats

import (
	"cmp"
	"math"
	"slices"
)

// Part is a number that is in a sum with some probability.
type Part struct {
	Size int64 // at least 0
	Prob float64
}

const (
	// cells is the number of cells into which SumAtMost divides the sums up to its bound.
	cells = 1024
	// large is the number of groups that SumAtMost takes one by one.
	large = 64
)

// SumAtMost returns the probability that the sum of the parts of some groups is at most a bound.
// Groups are independent of one another. The parts of a group are missing together: a part is
// missing only if all parts of its group are that have a lower probability.
//
// The result is exact if the bound is below cells and at most large groups may have parts missing.
// Of more groups the largest are taken one by one, and the sum of the others is taken to be normal.
// Above cells, sums are told apart by cells of equal width: a sum that is not a whole number of
// cells counts now as the next smaller, now as the next larger, and as itself on average.
//
// For n parts SumAtMost takes O(n log n + m cells), if the largest groups have m parts.
func SumAtMost(groups [][]Part, bound int64) float64 {
	open := make([]group, 0, len(groups))
	most, all := int64(0), 0
	for _, parts := range groups {
		all += len(parts) + 1
	}
	steps, sorted := make([]step, 0, all), []Part(nil)
	for _, parts := range groups {
		sorted = append(sorted[:0], parts...)
		g := newGroup(sorted, steps)
		steps = g.steps[len(g.steps):]
		bound -= g.sure
		if len(g.steps) > 1 {
			open = append(open, g)
			most += g.steps[len(g.steps)-1].sum
		}
	}
	switch {
	case bound < 0:
		return 0
	case most <= bound:
		return 1
	}
	order := byVariance(open)
	n := min(large, len(open))
	var mean, variance float64
	for _, i := range order[n:] {
		mean += open[i].mean
		variance += open[i].variance
	}
	largest := make([]group, n)
	for i := range largest {
		largest[i] = open[order[i]]
	}
	width := bound/cells + 1
	prob := 0.
	for i, p := range sums(largest, width, bound/width+1) {
		if n < len(open) {
			left := float64(bound-int64(i)*width) + .5 - mean
			p *= .5 * math.Erfc(-left/math.Sqrt(2*variance))
		}
		prob += p
	}
	return min(1, prob)
}

// group is the sum of parts that are missing together.
type group struct {
	sure           int64  // of the parts that are not missing
	steps          []step // of the others: the sums and their probabilities, ascending from 0
	mean, variance float64
}

type step struct {
	sum  int64
	prob float64
}

// byVariance returns the order of groups by falling variance.
func byVariance(groups []group) []int32 {
	type ranked struct {
		variance float64
		place    int32
	}
	ranks := make([]ranked, len(groups))
	for i := range groups {
		ranks[i] = ranked{groups[i].variance, int32(i)}
	}
	slices.SortFunc(ranks, func(a, b ranked) int {
		if by := cmp.Compare(b.variance, a.variance); by != 0 {
			return by
		}
		return int(a.place - b.place)
	})
	order := make([]int32, len(groups))
	for i := range ranks {
		order[i] = ranks[i].place
	}
	return order
}

// newGroup returns the group of parts, which it sorts. Its steps are in the empty slice steps, as
// long as that has room.
func newGroup(parts []Part, steps []step) group {
	slices.SortStableFunc(parts, func(a, b Part) int { return cmp.Compare(b.Prob, a.Prob) })
	g := group{steps: steps[:0]}
	last, rest := step{}, 1.
	for _, p := range parts {
		switch {
		case p.Prob >= 1:
			g.sure += p.Size
		case p.Prob > 0:
			last.prob = rest - p.Prob
			g.steps = append(g.steps, last)
			last.sum += p.Size
			rest = p.Prob
		}
	}
	last.prob = rest
	g.steps = append(g.steps, last)
	for _, s := range g.steps {
		g.mean += s.prob * float64(s.sum)
	}
	for _, s := range g.steps {
		off := float64(s.sum) - g.mean
		g.variance += s.prob * off * off
	}
	return g
}

// sums returns the probability of each sum of the groups below n cells of a width.
func sums(groups []group, width, n int64) []float64 {
	probs, next := make([]float64, n), make([]float64, n)
	probs[0] = 1
	last := int64(0) // of the sums so far
	for _, g := range groups {
		clear(next)
		// add adds to next the sums so far, each with as many cells more.
		add := func(more int64, share float64) {
			for i := int64(0); i <= min(last, n-1-more); i++ {
				next[i+more] += probs[i] * share
			}
		}
		for _, s := range g.steps {
			more, larger := s.sum/width, float64(s.sum%width)/float64(width)
			add(more, s.prob*(1-larger))
			if larger > 0 {
				add(more+1, s.prob*larger)
			}
		}
		last = min(n-1, last+g.steps[len(g.steps)-1].sum/width+1)
		probs, next = next, probs
	}
	return probs
}
