// Package stats holds the statistics that queueing forecasts rest on: exact
// confidence bounds on quantiles and proportions, the lag-1 autocorrelation of
// a sliding window, an ordered multiset of durations, a least-squares line and
// the log-uniform distribution. Nothing else in it assumes a distribution, and
// nothing in it falls back on a normal approximation.
package stats
