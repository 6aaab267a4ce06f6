// Package qos simulates the cluster of "Probabilistic QoS Guarantees for Supercomputing Systems"
// (Oliner, Rudolph, Sahoo, Moreira and Gupta 2005). Its nodes fail and recover. A predictor
// predicts failures. The scheduler promises for each job that the job is complete by a deadline
// with a probability.
//
// The scheduler is first come, first served, with backfilling. When a job is submitted, it gets a
// start and a set of nodes, called its partition. Neither changes unless a failure forces it. The
// job starts as early as the earlier jobs allow, on the free nodes that are least likely to fail.
// If a failure is too likely for the job's user, the job starts later: at the first time at which
// some nodes are likely enough not to fail until its end. The deadline is this end, computed as if
// all checkpoints were performed.
//
// A running job requests checkpoints, and a rule decides which of them are performed. If one of its
// nodes fails, the job gets a new start and new nodes, as early as possible, and begins there from
// its last complete checkpoint. The failed node is down for a while. Jobs that were to start on it
// start later, on the same nodes, and so do the jobs that were to follow them there.
//
// Equal arguments give equal results.
package qos

// Job is a job with a partition of its own.
type Job struct {
	Submit int64 // seconds; not negative
	Work   int64 // e_j: for how long it runs without checkpoints, in seconds; at least 1
	Nodes  int   // n_j; at least 1
}

// Config is a cluster, its scheduler and its users. Durations are in seconds.
type Config struct {
	Nodes    int   // N
	Downtime int64 // of a node after a failure
	// I: work between a checkpoint, or a request that was denied, and the next request; at least 1
	Interval int64
	Overhead int64 // C: for how long a checkpoint stops the work
	Failures *Log
	// Predictor foretells the failures.
	Predictor Predictor
	// Risk is U: a user accepts the earliest deadline with a probability of at least that.
	Risk float64
	// Horizon is by how much a user may put off the earliest start. If no start until then is
	// likely enough to succeed, she accepts the likeliest, or the earliest of these.
	Horizon int64
	// Checkpoint decides which checkpoints are performed.
	Checkpoint Rule
	// Patience is how often a job is interrupted or put off at most. With once more it is
	// abandoned: its nodes fail faster than it reaches a checkpoint.
	Patience int
}

// Predictor foretells failures from what is known at the time now. Windows are [from, to), in
// seconds.
type Predictor interface {
	// Node returns the probability that the node fails in the window.
	Node(now int64, node int, from, to int64) float64
	// Nodes returns the probability that at least one of the nodes fails in the window.
	Nodes(now int64, nodes Set, from, to int64) float64
	// Next returns the next time at which a window may begin for which failures are less likely
	// than for one of the same length that begins at from, or Never.
	Next(now, from int64) int64
}

// Result is what became of the jobs. Work is in node-seconds.
type Result struct {
	Jobs        int
	QoS         float64 // equation 2: sum(e_j n_j q_j p_j) / sum(e_j n_j)
	Utilisation float64 // Work / (T N), T from the first submission to the last end
	Lost        float64 // sum over the failures of (t_x - c_x) n_x
	Work        float64 // sum(e_j n_j) of the jobs that were not abandoned
	Occupied    float64 // for how long nodes had jobs
	Promised    float64 // sum(e_j n_j p_j) / sum(e_j n_j): the QoS if no deadline had been missed
	Missed      int     // jobs that missed their deadlines
	Abandoned   int     // jobs that were abandoned; they missed their deadlines, too
	Interrupted int     // how often a job was interrupted by a failure
	Requested   int     // checkpoints
	Performed   int     // checkpoints, complete or not
	Risky       int     // jobs for which no start was likely enough to succeed
	// seconds from submission to end, mean over the jobs that were not abandoned
	Turnaround float64
}
