// Package score judges forecasts of waits by the waits that came: how often a wait
// was within a quantile (coverage) and how much a quantile cost (pinball loss), how
// often a probability came true (reliability, Brier score, calibration error), and
// whether a forecaster has drifted from what it was.
//
// Quantiles, Pinball, Brier, Reliability and Weekly are about any forecasts.
// Sums adds up one forecaster's scores at fixed levels and budgets, and a Table has
// such sums by day, forecaster, partition and class: it can be kept on disk, and
// Rows sums it up again over any of these. A forecast belongs to the day, in UTC, on
// which its wait began. By the day of the start, it would depend on the length of a
// wait among which others it is counted.
package score
