package backtest

import "github.com/varq-project/varq/predictor/forecast/score"

// Score is how one method did on a log, or on a part of it.
//
// A method that does not answer, or names no number for a quantile, gets the pinball
// loss of the fallback: the same quantile of the last 300 waits of any jobs. So the
// losses of all methods are about the same jobs, silence does not pay, and a little of
// it does not decide how a method compares. The coverage and the width are about the
// numbers named. The scores of probabilities, and the base rate, are about the jobs
// answered.
//
// Intervals are those of [score.Weekly], whose weeks are those in which waits began.
type Score struct {
	Method    string          `json:"method"`
	Jobs      int             `json:"jobs"`
	Answered  float64         `json:"answered"` // share of the jobs
	Quantiles []QuantileScore `json:"quantiles"`
	Budgets   []BudgetScore   `json:"budgets"`
	// CalibrationError is the expected calibration error of the probabilities for
	// all budgets together, and Reliability their diagram.
	CalibrationError float64       `json:"calibration_error"`
	Reliability      []score.Point `json:"reliability"`
	// Promises is nil for a method that makes none.
	Promises []PromiseScore `json:"promises,omitempty"`
	// Months has the coverage of each month in which jobs were submitted.
	Months []Month `json:"months"`
}

// QuantileScore is how well one quantile was forecast.
type QuantileScore struct {
	Quantile float64 `json:"quantile"`
	// Coverage is the share of the waits that did not exceed the quantile, ties by
	// their randomised rank ([score.Quantiles]), of those for which it was a number.
	Coverage score.Proportion `json:"coverage"`
	// Plain is the same with all ties counted.
	Plain score.Proportion `json:"plain"`
	// Pinball is the mean pinball loss, seconds. Relative is the same in parts of the
	// mean wait; nil if that is 0.
	Pinball  float64  `json:"pinball"`
	Relative *float64 `json:"relative"`
	// Width is the median of (x+60)/(w+60), within half a percent.
	Width float64 `json:"width"`
	// SteadyMonths is the share of the months with BusyMonth jobs or more whose
	// coverage is within .05 of the quantile; nil if there is none.
	SteadyMonths *float64 `json:"steady_months"`
}

// BudgetScore is how well the probability of starting within a budget was forecast.
type BudgetScore struct {
	Budget int64   `json:"budget"` // seconds
	Brier  float64 `json:"brier"`  // mean squared distance from what came true
	// BaseRate is the share of the same jobs that started within the budget, and
	// Skill by how much of it the Brier score is better than that of forecasting the
	// base rate each time; nil if that is perfect.
	BaseRate float64  `json:"base_rate"`
	Skill    *float64 `json:"skill"`
}

// PromiseScore is how promises were kept. A promise is a lower bound on the
// probability that a job starts within a budget, and it is kept if the job does.
type PromiseScore struct {
	Prob float64 `json:"prob"`
	// Kept is about all promises of Prob or more, most of which are nearly certain.
	// Band is about those of them that are less than Prob+Band.
	Kept score.Proportion `json:"kept"`
	Band score.Proportion `json:"band"`
}

// Month is the jobs that were submitted in one month, in UTC.
type Month struct {
	Month    string    `json:"month"` // 2006-01
	Jobs     int       `json:"jobs"`
	Coverage []float64 `json:"coverage"` // of each quantile; 0 where it was never a number
}

// BusyMonth is from how many jobs on a month's coverage is looked at.
const BusyMonth = 100

// Promised are the probabilities of Score.Promises, ascending.
var Promised = [...]float64{.5, .75, .95}

// Band is how far above Prob the promises of PromiseScore.Band reach.
const Band = .03
