package scenario

import "github.com/varq-project/varq/predictor/cluster/sched"

// Reservations says what share of the jobs ask for a reservation, and of which kind. At
// most one of its fields is set; nobody reserves if none is.
type Reservations struct {
	Hard *Hard
	VARQ *VARQ
}

// Hard are advance reservations: the scheduler grants each job a start at a fixed time
// and never breaks it.
type Hard struct {
	Share float64 // of the jobs
	// Ahead bounds how long after its submission a job asks to start, in seconds. The
	// time it asks for is uniform between 0 and Ahead.
	Ahead int64
	// Protected is the share of the queue that a reservation may not delay.
	Protected float64
	// Restart is the price of stopping a running job. Nil: none is stopped.
	Restart *sched.Restart
}

// VARQ are reservations made of probability: an ordinary job is submitted so early that
// it runs by its deadline with the probability asked for.
type VARQ struct {
	Share float64 // of the jobs
	Prob  float64 // success probability asked for
	// Every is the interval of the deadlines in seconds, at least 1. A job asks for
	// the first multiple of it after its submission (VARQ 2007, section 4.4).
	Every int64
	// BestEffort lets the work start as soon as the job does. Otherwise it starts at
	// the deadline.
	BestEffort bool
	Method     Method // of forecasting waits
	// MaxHold bounds how long a job may hold its processors before the work, in time
	// limits (trajectory.Planner). 0: no bound, as in the paper.
	MaxHold float64
	// Replan is the interval in seconds at which a pending reservation is planned
	// anew; 0: never. varqd's is a few seconds. Each time up to Every/30 submissions
	// are forecast, which takes most of a simulation's time.
	Replan int64
}
