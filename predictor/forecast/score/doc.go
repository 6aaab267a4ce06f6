// Package score judges forecasts by their outcomes.
//
// For waits it measures how often a wait was within a quantile (coverage), how good a quantile was
// (pinball loss), and how often a probability came true (reliability, Brier score, calibration
// error). It also detects whether a forecaster has drifted: whether its quantiles cover more or
// fewer waits than they say. For failures it measures the log loss, how often a risk came true, and
// how long before a failure the failure was announced. A Verdict
// compares what came true with what was promised.
//
// Quantiles, Pinball, Brier, Reliability and Weekly apply to any forecasts. Sums adds up one
// forecaster's scores at fixed levels and budgets. A Table has Sums by day, forecaster, partition
// and class. It can be stored on disk, and Rows sums it up over any of these. A forecast belongs to
// the day, in UTC, on which its wait began. If it belonged to the day of the start, its day would
// depend on how long the wait was.
package score
