package joint

import (
	"math"
	"slices"
)

// Member is a job that may start at a site by the deadline.
type Member struct {
	Site string // by which Correlation knows its delays
	// Prob is the probability that the job starts in time. A number outside [0,1] counts as the
	// nearest number in it, and NaN as 0. Prob may be a best estimate or a lower bound. But a Model
	// must always be given the same of the two, because its recalibration learns how far Prob is
	// off.
	Prob float64
}

// Group has sets of members. It succeeds if in each set at least one member starts by the deadline.
// A set without a member fails. A group without a set succeeds.
//
// Members at one site are different jobs: they may start at different times.
type Group [][]Member

// AnyOf returns the group that succeeds if at least one member starts in time.
func AnyOf(members ...Member) Group { return Group{members} }

// AllOf returns the group that succeeds if all members start in time.
func AllOf(members ...Member) Group {
	var g Group
	for _, m := range members {
		g = append(g, []Member{m})
	}
	return g
}

// MaxMembers is the largest number of members that a group should have. Up to it, Prob is exact to
// about .0002. It is exact to about .003 in two cases: there are more than four sets, some of which
// have several members; or correlations contradict, or nearly contradict, one another.
const MaxMembers = 16

// Kind is what a group asks for.
type Kind uint8

// The kinds of groups.
const (
	Single Kind = iota // one member, or none
	Any                // one set
	All                // sets of one member each
	Nested             // anything else
	kinds
)

// Kind returns the kind of the group.
func (g Group) Kind() Kind {
	members, single := 0, true
	for _, set := range g {
		members += len(set)
		single = single && len(set) == 1
	}
	switch {
	case members <= 1:
		return Single
	case len(g) == 1:
		return Any
	case single:
		return All
	}
	return Nested
}

// Independent returns the probability that the group succeeds if the members' starts are
// independent: the product over the sets of 1-prod(1-p).
func (g Group) Independent() float64 {
	all := 1.
	for _, set := range g {
		none := 1.
		for _, m := range set {
			none *= 1 - m.prob()
		}
		all *= 1 - none
	}
	return all
}

// Bounds returns Fréchet's bounds on the probability that the group succeeds. They hold for any
// dependence of the starts.
func (g Group) Bounds() (low, high float64) {
	low, high = 1, 1
	for _, set := range g {
		least, most := 0., 0.
		for _, m := range set {
			least, most = max(least, m.prob()), most+m.prob()
		}
		low, high = low-(1-least), min(high, most)
	}
	return max(0, low), high
}

// Correlation returns the correlation of the delays at two sites, or of two jobs at one site. It is
// the correlation of the normal scores of the delays' ranks under their forecasts. It is symmetric
// and in [-1,1]. A nil Correlation is 0 everywhere.
type Correlation func(a, b string) float64

// Prob returns the probability that the group succeeds, by a Gaussian copula with these
// correlations. If the correlations contradict one another, all are scaled towards 0 until they do
// not.
//
// For two members the result is exact to 1e-12. For n members it comes from a lattice rule with a
// fixed number of points. That takes O(n^2) for each point, and is repeated up to 15 times if there
// are several sets. The same group always has the same result. Invariant: the result lies between
// Bounds.
func (g Group) Prob(between Correlation) float64 {
	low, high := g.Bounds()
	return max(low, min(g.copula(between), high))
}

// copula returns Prob before it is limited to Bounds.
func (g Group) copula(between Correlation) float64 {
	sets := g.undecided()
	var members []Member
	for _, set := range sets {
		if len(set) == 0 {
			return 0
		}
		members = append(members, set...)
	}
	matrix := correlations(members, between)
	if independent(matrix) {
		return sets.Independent()
	}
	// a member starts in time if its normal score is at most its element of scores
	scores := make([]float64, len(members))
	for i, m := range members {
		scores[i] = quantile(m.Prob)
	}
	switch matrix = definite(matrix); {
	case len(sets) == len(members):
		return orthant(scores, matrix)
	case len(sets) <= fewSets:
		return inclusion(sets, scores, matrix)
	}
	var sizes []int
	for _, set := range sets {
		sizes = append(sizes, len(set))
	}
	return lattice(sizes, scores, cholesky(matrix))
}

// fewSets is the largest number of sets for which inclusion is used.
const fewSets = 4

// inclusion returns the probability that each set succeeds, by inclusion and exclusion. It sums
// over all choices of sets. The term of a choice is the probability that no member of the chosen
// sets starts in time. Its sign is the parity of the number of chosen sets.
func inclusion(sets Group, scores []float64, matrix [][]float64) float64 {
	sum := 0.
	for choice := range 1 << len(sets) {
		sign, i := 1., 0
		var chosen []int
		for k, set := range sets {
			if choice>>k&1 == 1 {
				sign = -sign
				for m := range set {
					chosen = append(chosen, i+m)
				}
			}
			i += len(set)
		}
		none, part := make([]float64, len(chosen)), make([][]float64, len(chosen))
		for i, m := range chosen {
			none[i] = -scores[m]
			for _, l := range chosen {
				part[i] = append(part[i], matrix[m][l])
			}
		}
		sum += sign * orthant(none, part)
	}
	return sum
}

// orthant returns the probability that each of some standard normal variables is at most its bound.
// matrix has the variables' correlations.
func orthant(bounds []float64, matrix [][]float64) float64 {
	switch len(bounds) {
	case 0:
		return 1
	case 1:
		return cdf(bounds[0])
	case 2:
		return bivariate(bounds[0], bounds[1], matrix[1][0])
	}
	return lattice(slices.Repeat([]int{1}, len(bounds)), bounds, cholesky(matrix))
}

// undecided returns the sets that chance decides. It leaves out the members that cannot start in
// time, and the sets with a member that certainly starts in time.
func (g Group) undecided() (sets Group) {
	for _, set := range g {
		var open []Member
		certain := false
		for _, m := range set {
			p := m.prob()
			certain = certain || p == 1
			if p > 0 {
				open = append(open, Member{m.Site, p})
			}
		}
		if !certain {
			sets = append(sets, open)
		}
	}
	// The lattice rule is more exact if fewer sets are decided by chance before the last members.
	slices.SortStableFunc(sets, func(a, b []Member) int { return len(a) - len(b) })
	return sets
}

func (m *Member) prob() float64 {
	if !(m.Prob > 0) {
		return 0
	}
	return min(m.Prob, 1)
}

// correlations returns the matrix of the members' correlations.
func correlations(members []Member, between Correlation) [][]float64 {
	matrix := make([][]float64, len(members))
	for i := range members {
		matrix[i] = make([]float64, len(members))
		matrix[i][i] = 1
		for k := range i {
			if between == nil {
				continue
			}
			if r := between(members[i].Site, members[k].Site); !math.IsNaN(r) {
				matrix[i][k] = max(-1, min(r, 1))
			}
			matrix[k][i] = matrix[i][k]
		}
	}
	return matrix
}

func independent(matrix [][]float64) bool {
	for i, row := range matrix {
		for _, r := range row[:i] {
			if r != 0 {
				return false
			}
		}
	}
	return true
}
