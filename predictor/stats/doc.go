// Package stats holds the statistics that queueing forecasts rest on: exact
// confidence bounds on quantiles and proportions, the lag-1 autocorrelation of
// a sliding window, and an ordered multiset of durations. Nothing in it assumes
// a distribution, and nothing in it falls back on a normal approximation.
package stats
