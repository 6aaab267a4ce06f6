package sched

// Backfill says which jobs may start before those ahead of them in the queue.
type Backfill uint8

// The kinds of backfilling.
const (
	// NoBackfill: none; the first job that cannot start holds up all behind it.
	NoBackfill Backfill = iota
	// EASY: those that do not delay the first job of the queue (Lifka 1995).
	EASY
	// Conservative: each job holds the earliest place it could have when it
	// came, and keeps it or an earlier one (Mu'alem and Feitelson 2001).
	Conservative
)

// Config is a cluster and its policy.
type Config struct {
	Procs    int32 // processors of the cluster
	Order    Order // of the queue; the zero Order is FCFS
	Backfill Backfill
	// Protected is the share of the queue, from its head, that a new hard
	// reservation may not delay: 0 to 1.
	Protected float64
	// Restart, if not nil, allows a hard reservation to stop running jobs, which
	// go back to the queue.
	Restart *Restart
}

// Restart prices the stopping of a running job: A N Tp + B N Tf, with N its
// processors, Tp how long it has run and Tf how long it is thought to run still
// (Smith 2000, section 4.2, where A - B = 1). The cheapest are stopped first.
type Restart struct {
	A, B float64
}
