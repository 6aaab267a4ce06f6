package flow

import (
	"slices"
	"sort"

	"github.com/varq-project/varq/predictor/delay"
)

// Times is when something happens, Unix seconds: in each course, ascending, and Never last.
type Times struct {
	at   []int64
	ever int // in how many courses it happens
}

// TimesOf returns the Times of something from when it happens in each course. It takes O(n log n)
// for n courses.
func TimesOf(courses []int64) Times {
	t := Times{at: slices.Sorted(slices.Values(courses))}
	t.ever = sort.Search(len(t.at), func(i int) bool { return t.at[i] == Never })
	return t
}

// Ever returns the probability that it happens, as far as is forecast.
func (t *Times) Ever() float64 { return float64(t.ever) / float64(len(t.at)) }

// Prob returns the probability that it has happened by a time.
func (t *Times) Prob(by int64) float64 {
	return float64(sort.Search(t.ever, func(i int) bool { return t.at[i] > by })) / float64(len(t.at))
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
	return t.at[int(prob*float64(len(t.at)))]
}

// Shares returns n times, ascending, that stand for all: the middle of each n-th of them, or Never.
func (t *Times) Shares(n int) []int64 {
	shares := make([]int64, n)
	for i := range shares {
		shares[i] = t.Quantile(float64(2*i+1) / float64(2*n))
	}
	return shares
}

// Wait is how much longer a job waits, in seconds, if it starts at all.
type Wait struct {
	Drawn delay.Distribution // by the courses as they were drawn; see Learnt
	Told  delay.Distribution // by the courses as they are corrected
	Waits int                // see Flow.Waits
}

// Wait returns how much longer the i-th job waits from the time on that New was told. It reports
// false if it starts in no course.
func (f *Flow) Wait(i int) (w Wait, ok bool) {
	w.Waits = f.waits[i]
	for _, of := range []struct {
		courses *Courses
		wait    *delay.Distribution
	}{{&f.drawn[i], &w.Drawn}, {&f.courses[i], &w.Told}} {
		starts := TimesOf(of.courses.Start)
		if starts.ever == 0 {
			return w, false
		}
		for k := range of.wait {
			of.wait[k] = starts.Prob(f.now+int64(delay.At(k))) / starts.Ever()
		}
	}
	return w, true
}
