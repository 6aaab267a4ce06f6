package score

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/varq-project/varq/predictor/stats"
)

func TestWeek(t *testing.T) {
	week := func(date string) int64 {
		at, err := time.Parse(time.DateOnly, date)
		if err != nil {
			t.Fatal(err)
		}
		return Week(Day(at.Unix()))
	}
	if monday, sunday, next := week("2026-11-16"), week("2026-11-22"), week("2026-11-23"); sunday != monday || next != monday+1 {
		t.Errorf("weeks %d, %d and %d", monday, sunday, next)
	}
}

// TestWeeklyShare: counts can be added in any order of weeks, and sum up.
func TestWeeklyShare(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	for weeks := range 12 {
		var inOrder, shuffled Weekly
		var all stats.Count
		for _, week := range r.Perm(weeks) {
			c := stats.Count{N: week, Of: 20}
			all.Plus(c)
			*shuffled.At(int64(week)) = c
		}
		for week := range weeks {
			for i := range 20 {
				inOrder.At(int64(week)).Add(i < week)
			}
		}
		p := inOrder.Proportion()
		if p != shuffled.Proportion() {
			t.Errorf("%d weeks: %+v in order, %+v otherwise", weeks, p, shuffled.Proportion())
		}
		if p.Of != all.Of || p.Share != all.Share() || p.Low < 0 || p.Low > p.Share || p.High < p.Share || p.High > 1 {
			t.Errorf("%d weeks: %+v of %+v", weeks, p, all)
		}
	}
}

// TestWeeklyOfFewWeeks: if there are fewer than stats.LeastBlocks weeks, each counts as one
// observation, however many waits it has.
func TestWeeklyOfFewWeeks(t *testing.T) {
	for _, c := range []struct {
		name  string
		weeks []stats.Count
		// The interval begins like Clopper and Pearson's interval for low, and ends like
		// that for high.
		low, high stats.Count
	}{
		{name: "none"},
		{"one", []stats.Count{{N: 900, Of: 1000}}, stats.Count{N: 0, Of: 1}, stats.Count{N: 1, Of: 1}},
		{"two", []stats.Count{{N: 500, Of: 1000}, {N: 500, Of: 1000}}, stats.Count{N: 1, Of: 2}, stats.Count{N: 1, Of: 2}},
		{"four", []stats.Count{{N: 90, Of: 100}, {N: 95, Of: 100}, {N: 97, Of: 100}, {N: 99, Of: 100}}, stats.Count{N: 3, Of: 4}, stats.Count{N: 4, Of: 4}},
		{"one that matters", []stats.Count{{N: 1, Of: 1}, {N: 0, Of: 1}, {N: 600, Of: 1000}}, stats.Count{N: 0, Of: 1}, stats.Count{N: 1, Of: 1}},
	} {
		var w Weekly
		for week, count := range c.weeks {
			*w.At(int64(week)) = count
		}
		low, _ := stats.ProportionInterval(c.low.N, c.low.Of, Confidence)
		_, high := stats.ProportionInterval(c.high.N, c.high.Of, Confidence)
		if p := w.Proportion(); p.Low != low || p.High != high {
			t.Errorf("%s: %+v, want from %v to %v", c.name, p, low, high)
		}
	}
}

// TestEffectiveWeeks: the sizes of the weeks decide whether there are enough of them.
func TestEffectiveWeeks(t *testing.T) {
	for _, c := range []struct {
		sizes  []int
		enough bool
	}{
		{[]int{7, 7, 7, 7}, false},
		{[]int{7, 7, 7, 7, 7}, true},
		{[]int{2, 7, 7, 7, 7}, true}, // 30 days
		{[]int{6, 7, 7, 7, 3}, true},
		{[]int{84, 115, 103, 142, 6}, false},
		{[]int{1, 1, 1, 1, 1, 1000}, false},
	} {
		var w Weekly
		for week, n := range c.sizes {
			*w.At(int64(week)) = stats.Count{N: n, Of: n}
		}
		if _, _, ok := w.Interval(); ok != c.enough {
			t.Errorf("weeks of %v are enough: %v", c.sizes, ok)
		}
	}
}

// TestWeeksThatDiffer: the probability that a wait is covered differs from week to week. The
// weekly interval has its mean as often as it should. The interval for independent waits
// misses it most of the time.
func TestWeeksThatDiffer(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	const runs, truth = 200, .9
	covered, independent := 0, 0
	for range runs {
		var w Weekly
		for week := range int64(52) {
			coverage := 1 - math.Min(1, .1*r.ExpFloat64()) // differs by week, .9 in the mean
			for range 200 {
				w.At(week).Add(r.Float64() < coverage)
			}
		}
		p := w.Proportion()
		if p.Low <= truth && truth <= p.High {
			covered++
		}
		if low, high := stats.ProportionInterval(int(math.Round(p.Share*float64(p.Of))), p.Of, Confidence); low <= truth && truth <= high {
			independent++
		}
	}
	if covered < .9*runs || independent > .5*runs {
		t.Errorf("%d of %d intervals have the truth; %d as if waits were independent", covered, runs, independent)
	}
}
