// Package qbets bounds queueing delay by the delays of past jobs, without knowing the
// scheduler's policy. It is the Queue Bounds Estimation from Time Series of Nurmi, Wolski
// and Brevik (section 2.3 of the VARQ report), and what that report leaves to the future.
//
//   - A quantile is bounded by an order statistic of past waits, whose index follows from
//     the binomial distribution. Jobs that wait now are censored observations (pool).
//   - Jobs are kept apart by class. Classes split where waits differ, and join where they
//     do not (cluster).
//   - A class forgets the waits before a change point (runs).
//   - An account or a user that is served differently has classes of its own (tenant).
//   - A wait during an outage is not queueing delay: it is not learnt. While an outage
//     lasts, nothing is forecast (starts, Outage).
//   - If a class has few waits, those of jobs that asked for at least as much are added.
//
// Times are Unix seconds and durations are seconds.
package qbets
