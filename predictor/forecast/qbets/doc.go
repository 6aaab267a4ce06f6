// Package qbets bounds queueing delay by the delays of past jobs, without knowing the
// scheduler's policy. It is the Queue Bounds Estimation from Time Series of Nurmi, Wolski
// and Brevik (section 2.3 of the VARQ report), with extensions that the report names as
// future work.
//
//   - A quantile is bounded by an order statistic of past waits. Its index follows from
//     the binomial distribution. Jobs that wait now are censored observations (pool.go).
//   - Jobs are divided into classes. Classes split where waits differ, and join where they
//     do not (cluster.go).
//   - A class forgets the waits before a change point (change.go).
//   - An account or a user that is served differently is answered by its own ranks among
//     the waits of a class (tenant.go).
//   - A wait during an outage is not queueing delay, so it is not learnt. While an outage
//     lasts, nothing is forecast (starts.go, silence.go, outage.go).
//   - If a class has few waits, waits of jobs that asked for at least as much are added
//     (pool.go).
//
// Times are Unix seconds and durations are seconds.
package qbets
