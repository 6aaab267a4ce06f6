// Package qbets forecasts queueing delay from the delays of past jobs, without
// knowing the scheduler's policy: the Queue Bounds Estimation from Time Series of
// Nurmi, Wolski and Brevik (section 2.3 of the VARQ report). Delays are taken
// as they come, sorted, and a quantile is bounded by an order statistic whose
// index follows from the binomial distribution. Jobs are kept apart by class,
// and a class forgets what came before a change. Where a class has few waits, only
// jobs that asked for at least as much answer in its place.
//
// The package has no clock and does no I/O. Times are Unix seconds and
// durations are seconds.
package qbets
