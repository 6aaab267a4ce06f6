package score

import (
	"math"
	"strings"

	"github.com/varq-project/varq/predictor/delay"
	"github.com/varq-project/varq/predictor/stats"
)

// Levels are the quantiles whose coverage is counted.
var Levels = [...]float64{.5, .75, .9, .95}

// Budgets are the delays, in seconds, whose probabilities are held against what
// came true.
var Budgets = [...]int64{300, 1800, 3600, 2 * 3600, 6 * 3600, 12 * 3600, 24 * 3600}

// Bins is into how many parts the probabilities are divided.
const Bins = 20

// Confidence is the level of all intervals.
const Confidence = .95

// Sums are what some forecasts and their waits add up to. Those of two sets of
// forecasts can be added.
type Sums struct {
	Forecasts int
	Levels    [len(Levels)]Level
	Bins      [Bins]Bin
}

// Level is how one of Levels fared.
type Level struct {
	// Covered is how many waits had a randomised rank (delay.Distribution's Rank) of
	// at most the level. That is how many were within the quantile, but for ties, as
	// of waits of 0 s; with an exact forecast it has an exact mean, whatever its ties.
	Covered int
	// Pinball is the sum of the losses, seconds: that of a forecast x of the
	// q-quantile is q (w-x) for a wait w of x or more and (1-q) (x-w) otherwise. A
	// quantile beyond delay's grid counts as the grid's end.
	Pinball float64
}

// Bin is the probabilities in one of Bins equal parts of [0,1], those of all
// Budgets together.
type Bin struct {
	N         int
	Predicted float64 // their sum
	True      int     // how many came true
	Squares   float64 // sum of their squared distances from what came true
}

// Add adds a forecast and what came of it: the wait in seconds, and V, which is
// drawn from [0,1) for it.
func (s *Sums) Add(forecast *delay.Distribution, wait, v float64) {
	s.Forecasts++
	rank := forecast.Rank(wait, v)
	for i, q := range Levels {
		if rank <= q {
			s.Levels[i].Covered++
		}
		x := min(forecast.Quantile(q), delay.At(delay.Points-1))
		s.Levels[i].Pinball += max(q*(wait-x), (1-q)*(x-wait))
	}
	for _, budget := range Budgets {
		p := forecast.Within(float64(budget))
		bin := &s.Bins[min(int(p*Bins), Bins-1)]
		came := 0.
		if wait <= float64(budget) {
			came = 1
			bin.True++
		}
		bin.N++
		bin.Predicted += p
		bin.Squares += (p - came) * (p - came)
	}
}

// Plus adds the sums of other forecasts.
func (s *Sums) Plus(other *Sums) {
	s.Forecasts += other.Forecasts
	for i := range s.Levels {
		s.Levels[i].Covered += other.Levels[i].Covered
		s.Levels[i].Pinball += other.Levels[i].Pinball
	}
	for i := range s.Bins {
		b, o := &s.Bins[i], &other.Bins[i]
		b.N += o.N
		b.Predicted += o.Predicted
		b.True += o.True
		b.Squares += o.Squares
	}
}

// Coverage returns the share of the waits within the i-th of Levels, and its
// interval (Clopper and Pearson's) as if each wait were independent of the others:
// as they are not, it is rather too narrow. Without forecasts the share is 0.
func (s *Sums) Coverage(i int) (share, low, high float64) {
	low, high = stats.ProportionInterval(s.Levels[i].Covered, s.Forecasts, Confidence)
	return s.mean(float64(s.Levels[i].Covered)), low, high
}

// Pinball returns the mean pinball loss of the i-th of Levels, seconds.
func (s *Sums) Pinball(i int) float64 { return s.mean(s.Levels[i].Pinball) }

// Brier returns the mean squared distance of the probabilities from what came
// true.
func (s *Sums) Brier() float64 {
	sum := 0.
	for i := range s.Bins {
		sum += s.Bins[i].Squares
	}
	return s.mean(sum) / float64(len(Budgets))
}

// Error returns the expected calibration error: the mean distance, over the bins
// and weighted by their numbers, of the mean probability from the share that came
// true.
func (s *Sums) Error() float64 {
	sum := 0.
	for i := range s.Bins {
		sum += math.Abs(s.Bins[i].Predicted - float64(s.Bins[i].True))
	}
	return s.mean(sum) / float64(len(Budgets))
}

func (s *Sums) mean(sum float64) float64 { return sum / float64(max(1, s.Forecasts)) }

// Key is what sums are about.
type Key struct {
	Day                          int64 // since 1970-01-01, UTC
	Forecaster, Partition, Class string
}

// Day returns the day of a time in Unix seconds.
func Day(at int64) int64 { return at / 86400 }

// Table has the sums of many forecasts.
type Table map[Key]*Sums

// At returns the sums of a key, which are there from then on.
func (t Table) At(k Key) *Sums {
	if t[k] == nil {
		t[k] = &Sums{}
	}
	return t[k]
}

// PublicClass returns the name of a class of jobs without whose they are: the
// words user=NAME and account=NAME are left out of it.
func PublicClass(class string) string {
	words := strings.Fields(class)
	public := words[:0]
	for _, w := range words {
		if !strings.HasPrefix(w, "user=") && !strings.HasPrefix(w, "account=") {
			public = append(public, w)
		}
	}
	return strings.Join(public, " ")
}
