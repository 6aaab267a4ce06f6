// Package stats has the statistics that forecasts of waits rest on: exact confidence bounds on
// quantiles and proportions, block-bootstrap intervals of shares, the lag-1 autocorrelation of a
// sliding window, an ordered multiset of durations, a least-squares line, the sum of parts that may
// be missing, and quantiles. Only the quantiles of the normal, Student's and the log-uniform
// distribution assume a distribution.
package stats
