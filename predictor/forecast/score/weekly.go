package score

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/varq-project/varq/predictor/stats"
)

// Confidence is the level of all intervals.
const Confidence = .95

// Day returns the day, counted from 1970-01-01 in UTC, of a time in Unix seconds.
func Day(at int64) int64 { return at / 86400 }

// Week returns the week, from Monday to Sunday, of a day that Day returned.
func Week(day int64) int64 { return (day + 3) / 7 } // 1970-01-01 was a Thursday

// Weekly counts by week how many forecasts, or promises, came true. Those of one week
// depend on one another: they share an outage, a full queue, one user's thousand jobs.
// Intervals therefore assume only that weeks are independent of one another. The zero
// Weekly is empty.
type Weekly struct {
	weeks  []int64 // ascending
	counts []stats.Count
}

// At returns the count of a week. It adds the week if there is none. The pointer is valid
// until the next call of At.
func (w *Weekly) At(week int64) *stats.Count {
	i, found := slices.BinarySearch(w.weeks, week)
	if !found {
		w.weeks = slices.Insert(w.weeks, i, week)
		w.counts = slices.Insert(w.counts, i, stats.Count{})
	}
	return &w.counts[i]
}

// Sum returns the count of all weeks.
func (w *Weekly) Sum() stats.Count { return stats.Sum(w.counts) }

// Interval returns an interval of level Confidence for the share of all weeks, by
// [stats.BlockInterval] with weeks as blocks. It reports false if the effective number of
// weeks is less than [stats.LeastBlocks], rounded: a week with next to nothing in it is no
// fifth week. The seed is fixed, so that intervals over the same weeks use the same
// resamples and can be compared.
func (w *Weekly) Interval() (low, high float64, ok bool) {
	if w.equalWeeks() < stats.LeastBlocks-.5 {
		return 0, 1, false
	}
	return stats.BlockInterval(w.counts, Confidence, rand.New(rand.NewPCG(1, 1)))
}

// Proportion is a share with an interval of level Confidence.
type Proportion struct {
	Of    int     `json:"of"`
	Share float64 `json:"share"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// Proportion returns the share of all weeks and its Interval. With too few weeks for that,
// the interval is Clopper and Pearson's with each week as one observation. It is as wide as
// it can be, as if all forecasts of a week came true or none.
func (w *Weekly) Proportion() Proportion {
	low, high, ok := w.Interval()
	all := w.Sum()
	if !ok {
		n := int(w.equalWeeks())
		weeks := all.Share() * float64(n)
		low, _ = stats.ProportionInterval(int(math.Floor(weeks)), n, Confidence)
		_, high = stats.ProportionInterval(int(math.Ceil(weeks)), n, Confidence)
	}
	return Proportion{Of: all.Of, Share: all.Share(), Low: low, High: high}
}

// equalWeeks returns the effective number of weeks: the number of weeks of equal size with
// the same variance, (sum of sizes)^2 / (sum of squared sizes).
func (w *Weekly) equalWeeks() float64 {
	sum, squares := 0., 0.
	for _, c := range w.counts {
		size := float64(c.Of)
		sum += size
		squares += size * size
	}
	if squares == 0 {
		return 0
	}
	return sum * sum / squares
}
