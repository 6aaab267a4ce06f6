package flow

import (
	"slices"
	"sort"

	"github.com/varq-project/varq/predictor/stats"
)

// Times is when something happens, Unix seconds: in each course, ascending, and Never last.
//
// Its probabilities may be replaced by how often such probabilities came true. They are those that
// it happens by a time if it happens at all; whether it does is left as it is.
type Times struct {
	at     []int64
	ever   int // in how many courses it happens
	learnt *stats.Platt
	now    int64
	not    *Times // it does not happen before that; nil if nothing is known of it
}

// TimesOf returns the Times of something from when it happens in each course. learnt is what
// replaces probabilities at a time now, or nil. It takes O(n log n) for n courses.
func TimesOf(courses []int64, learnt *stats.Platt, now int64) Times {
	t := Times{at: slices.Sorted(slices.Values(courses)), learnt: learnt, now: now}
	t.ever = sort.Search(len(t.at), func(i int) bool { return t.at[i] == Never })
	return t
}

// NotBefore says that it does not happen before something else, whose probabilities may be replaced
// otherwise.
func (t *Times) NotBefore(other *Times) { t.not = other }

// Ever returns the probability that it happens, as far as is forecast.
func (t *Times) Ever() float64 { return float64(t.ever) / float64(len(t.at)) }

// Prob returns the probability that it has happened by a time.
func (t *Times) Prob(by int64) float64 {
	if t.ever == 0 {
		return 0
	}
	prob := float64(sort.Search(t.ever, func(i int) bool { return t.at[i] > by })) / float64(t.ever)
	if t.learnt != nil {
		prob, _ = t.learnt.Prob(prob, t.now)
	}
	if prob *= t.Ever(); t.not != nil {
		prob = min(prob, t.not.Prob(by))
	}
	return prob
}

// Rank returns a rank, in [0,1], of the time at which it has happened: of those that are as likely,
// the one that a random number from [0,1) chooses.
func (t *Times) Rank(at int64, random float64) float64 {
	low, high := t.Prob(at-1), t.Prob(at)
	return low + random*(high-low)
}

// Quantile returns the time by which it has happened with a probability, or Never.
func (t *Times) Quantile(prob float64) int64 {
	if prob >= t.Ever() {
		return Never
	}
	share := prob / t.Ever()
	if t.learnt != nil {
		share = t.learnt.Before(share, t.now)
	}
	at := t.at[min(t.ever-1, int(share*float64(t.ever)))]
	if t.not != nil {
		at = max(at, t.not.Quantile(prob))
	}
	return at
}

// Shares returns n times, ascending, that stand for all: the middle of each n-th of them, or Never.
func (t *Times) Shares(n int) []int64 {
	shares := make([]int64, n)
	for i := range shares {
		shares[i] = t.Quantile(float64(2*i+1) / float64(2*n))
	}
	return shares
}
