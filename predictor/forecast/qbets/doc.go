// Package qbets forecasts queueing delay from the delays of past jobs, without
// knowing the scheduler's policy: the Queue Bounds Estimation from Time Series of
// Nurmi, Wolski and Brevik (section 2.3 of the VARQ report), and what that report
// leaves to the future.
//
// Delays are taken as they come, sorted, and a quantile is bounded by an order
// statistic whose index follows from the binomial distribution; jobs that wait
// now count as far as they have waited (pool). Jobs are kept apart by class,
// and classes split and join as the waits tell (cluster). A class forgets
// what came before a change (runs). An account or a user that is served
// differently has classes of its own (tenant). What jobs wait during an outage is
// not queueing delay: it is not learnt, and while it lasts nothing is forecast
// (starts, Outage). Where a class has few waits, only jobs that asked for at
// least as much answer in its place.
//
// The package has no clock and does no I/O. Times are Unix seconds and
// durations are seconds.
package qbets
