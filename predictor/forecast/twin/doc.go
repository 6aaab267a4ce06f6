// Package twin simulates a cluster's live queue. It answers how long a job would wait if no further
// job came, and each job ran as long as predicted. A Twin keeps the jobs of the queue with a
// distribution of each one's run time, and answers by rollouts: simulations that begin with the
// present queue (package rollout).
//
// A pool is processors that jobs wait for together. Several partitions may share one. From events a
// Twin learns what a log lacks: how many processors each pool has, which partitions share it, and
// by which policy its jobs are started. Where Slurm's priorities are known, the order by priority
// is Slurm's own.
//
// A rollout counts processors only. It knows nothing of topology, memory or licences. Limits bound
// how much a user or a QOS may use at once. Of these a Twin knows only which jobs they keep from
// starting now. Its answers are features of a forecast, not a forecast: they have to be
// recalibrated against the waits that came.
//
// A Twin also bounds the probability that there is room for a job at a time beside the jobs that
// run, and beside claims, which promises have on nodes to come (Occupants, Room). Room counts
// nodes, CPUs, GPUs and memory, of the pool and of single nodes, where these are configured.
package twin
