package score

import (
	"github.com/varq-project/varq/predictor/delay"
	"github.com/varq-project/varq/predictor/stats"
)

// Levels are the quantiles whose coverage is counted.
var Levels = [...]float64{.5, .75, .9, .95}

// Budgets are the delays, in seconds, whose probabilities are compared with outcomes.
var Budgets = [...]int64{300, 1800, 3600, 2 * 3600, 6 * 3600, 12 * 3600, 24 * 3600}

// Sums are the sums of the scores of some forecasts.
type Sums struct {
	Forecasts int
	Levels    [len(Levels)]Level
	Bins      Reliability // of the probabilities of all Budgets together
	Near      [len(Said)]Nearness
}

// Level has the sums at one of Levels.
type Level struct {
	Covered int // the number of outcomes within the quantile, by Quantile.Covered
	// Pinball is the sum of the losses in seconds. A quantile beyond delay's grid counts
	// as the grid's last point.
	Pinball float64
}

// Add adds a forecast and its outcome: the wait, or the time until the end, in seconds. v is drawn
// from [0,1) for each forecast; see Quantiles. It does not know the median of the past, which
// AddPast adds.
func (s *Sums) Add(forecast *delay.Distribution, seconds, v float64) {
	s.Forecasts++
	last := delay.At(delay.Points - 1)
	s.Near[SaidMedian].Add(min(forecast.Quantile(.5), last), seconds)
	s.Near[SaidAtOnce].Add(0, seconds)
	var room [len(Levels)]Quantile
	for i, quantile := range Quantiles(room[:0], forecast, Levels[:], seconds, v) {
		if quantile.Covered {
			s.Levels[i].Covered++
		}
		s.Levels[i].Pinball += Pinball(Levels[i], min(quantile.Seconds, last), seconds)
	}
	for _, budget := range Budgets {
		s.Bins.Add(forecast.Within(float64(budget)), seconds <= float64(budget))
	}
}

// AddPast adds the median of what had come before, as a forecast, and the outcome, in seconds.
func (s *Sums) AddPast(median, seconds float64) { s.Near[SaidPast].Add(median, seconds) }

// Plus adds the sums of other forecasts.
func (s *Sums) Plus(other *Sums) {
	s.Forecasts += other.Forecasts
	for i := range s.Levels {
		s.Levels[i].Covered += other.Levels[i].Covered
		s.Levels[i].Pinball += other.Levels[i].Pinball
	}
	s.Bins.Plus(&other.Bins)
	for i := range s.Near {
		s.Near[i].Plus(&other.Near[i])
	}
}

// Coverage returns how many of the outcomes were within the i-th of Levels.
func (s *Sums) Coverage(i int) stats.Count {
	return stats.Count{N: s.Levels[i].Covered, Of: s.Forecasts}
}

// Pinball returns the mean pinball loss of the i-th of Levels in seconds.
func (s *Sums) Pinball(i int) float64 {
	return s.Levels[i].Pinball / float64(max(1, s.Forecasts))
}
