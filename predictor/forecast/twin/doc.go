// Package twin simulates a cluster's live queue: how long would a job wait if nothing
// but the jobs that run and wait now took part, and each ran for as long as is expected
// of it? A Twin keeps the jobs of the queue with a distribution of each one's run time,
// and answers with a few rollouts.
//
// It learns from events what Slurm does not say, and what a replayed log lacks: how
// many processors there are, which partitions share them, and by which policy jobs are
// started.
//
// It counts processors alone. It knows nothing of nodes that are down, topology,
// memory, licences, or limits on what a user may run. Its answers are features of a
// forecast, not a forecast: they have to be recalibrated against the waits that came.
package twin
