// Package score judges forecasts by their outcomes. Those of waits: how often a wait was within a
// quantile (coverage), how good a quantile was (pinball loss), how often a probability came true
// (reliability, Brier score, calibration error), and whether a forecaster has drifted: whether its
// quantiles cover more or fewer waits than they say. Those of failures: their log loss, how often a
// risk came true, and how long before a failure it was announced. A Verdict says whether what was
// promised came true, or what was forecast.
//
// Quantiles, Pinball, Brier, Reliability and Weekly apply to any forecasts. Sums adds up one
// forecaster's scores at fixed levels and budgets. A Table has Sums by day, forecaster,
// partition and class. It can be stored on disk, and Rows sums it up over any of these. A
// forecast belongs to the day, in UTC, on which its wait began. If it belonged to the day of
// the start, its day would depend on how long the wait was.
package score
