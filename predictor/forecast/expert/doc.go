// Package expert has the forecasters that a blend is made of. QBETS forecasts from the past waits
// of a class of jobs. Forest forecasts from similar situations and from the wait that a twin of the
// queue expects. Ahead forecasts from similar situations, before the submission. Downey forecasts
// from the lifetimes of the running jobs. Each turns the result of a method's package into an
// Answer. News is what becomes known of the cluster itself, and not of its jobs.
package expert
