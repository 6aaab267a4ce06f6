package backtest

import (
	"github.com/varq-project/varq/predictor/forecast/score"
	"github.com/varq-project/varq/predictor/forecast/score/group"
)

// Score has the scores of one method on a log, or on a part of it.
//
// If a method has no forecast for a job, or no finite number for a quantile, its pinball
// loss is that of the fallback: the same quantile of the last 300 waits of all jobs. So
// the losses of all methods are means over the same jobs. A method gains nothing by
// leaving out a forecast, and a few missing forecasts do not decide a comparison.
// Coverage and Width leave out the quantiles without a number. The scores of
// probabilities and BaseRate leave out the jobs without a forecast.
//
// Confidence intervals are those of [score.Weekly], by the week in which a wait began.
type Score struct {
	Method    string          `json:"method"`
	Jobs      int             `json:"jobs"`
	Answered  float64         `json:"answered"` // share of the jobs with a forecast
	Quantiles []QuantileScore `json:"quantiles"`
	Budgets   []BudgetScore   `json:"budgets"`
	// CalibrationError is the expected calibration error of the probabilities of all
	// budgets together. Reliability is their reliability diagram.
	CalibrationError float64       `json:"calibration_error"`
	Reliability      []score.Point `json:"reliability"`
	// Near is how near the median came. Where there is no number, it is the fallback's that counts.
	Near score.Near `json:"near"`
	// Promises has a score for each probability of Promised. It is nil if the method
	// made no promise.
	Promises []PromiseScore `json:"promises,omitempty"`
	// Months has the months in which jobs were submitted, in order.
	Months []Month `json:"months"`
	// Worst has the groups of jobs of which the coverage is most off its quantile, those first,
	// without those that may be off by chance. Scores of a part of a log have none.
	Worst []group.Coverage `json:"worst,omitempty"`
}

// QuantileScore is how well one quantile was forecast.
type QuantileScore struct {
	Quantile float64 `json:"quantile"`
	// Coverage is the share of the waits that did not exceed the forecast. A wait equal
	// to the forecast counts by its randomised rank ([score.Quantiles]).
	Coverage score.Proportion `json:"coverage"`
	// Plain is the share of the waits that did not exceed the forecast. A wait equal to
	// the forecast counts always.
	Plain score.Proportion `json:"plain"`
	// Pinball is the mean pinball loss in seconds. Relative is Pinball divided by the
	// mean wait, or nil if the mean wait is 0.
	Pinball  float64  `json:"pinball"`
	Relative *float64 `json:"relative"`
	// Width is the median of (x+60)/(w+60), where x is the forecast and w the wait in
	// seconds. It is exact to half a percent.
	Width float64 `json:"width"`
	// SteadyMonths is the share of the months with at least BusyMonth jobs in which the
	// coverage was within .05 of the quantile. It is nil if there is no such month.
	SteadyMonths *float64 `json:"steady_months"`
}

// BudgetScore is how well the probability of starting within a budget was forecast.
type BudgetScore struct {
	Budget int64   `json:"budget"` // seconds
	Brier  float64 `json:"brier"`  // Brier score: mean squared error of the probability
	// BaseRate is the share of the jobs with a forecast that started within the budget.
	// Skill is 1 - Brier / b, where b is the Brier score of always forecasting
	// BaseRate. It is nil if b is 0.
	BaseRate float64  `json:"base_rate"`
	Skill    *float64 `json:"skill"`
}

// PromiseScore tells which share of the promises were kept. A promise is a lower bound on
// the probability that a job starts within a budget. It is kept if the job does.
type PromiseScore struct {
	Prob float64 `json:"prob"`
	// Kept is the share of the promises of Prob or more that were kept. Most of these
	// promises are nearly 1. Band is the same for the promises below Prob+[Band].
	Kept score.Proportion `json:"kept"`
	Band score.Proportion `json:"band"`
}

// Month has the scores of the jobs submitted in one month, in UTC.
type Month struct {
	Month    string    `json:"month"` // 2006-01
	Jobs     int       `json:"jobs"`
	Coverage []float64 `json:"coverage"` // by quantile; 0 if there was no number
	Pinball  []float64 `json:"pinball"`  // mean loss in seconds, by quantile
}

// BusyMonth is the least number of jobs of a month that counts in SteadyMonths.
const BusyMonth = 100

// Promised has the probabilities of Score.Promises, ascending.
var Promised = [...]float64{.5, .75, .95}

// Band is the width of the interval of promises from Prob in PromiseScore.Band.
const Band = .03
