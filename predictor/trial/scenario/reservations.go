package scenario

import "github.com/varq-project/varq/predictor/cluster/sched"

// Reservations tells which jobs become reservations: none, hard ones or VARQ's.
type Reservations struct {
	Hard *Hard
	VARQ *VARQ
}

// Hard are advance reservations that the scheduler grants and never breaks.
type Hard struct {
	Share float64 // of the jobs
	// Ahead is how many seconds after its submission a job wants to start at the
	// most: the time it asks for is uniform between 0 and Ahead.
	Ahead int64
	// Protected is the share of the queue that a reservation may not delay.
	Protected float64
	Restart   *sched.Restart // nil: running jobs are not stopped
}

// VARQ are reservations made of probability.
type VARQ struct {
	Share float64 // of the jobs
	Prob  float64 // success probability asked for
	// Every is the interval of the deadlines in seconds: a job asks for the next
	// multiple of it after its submission (VARQ 2007, section 4.4). At least 1.
	Every int64
	// BestEffort lets the work start with the job, and not at the deadline.
	BestEffort bool
	Forecaster Forecaster
	// MaxHold is how long a job may hold its processors before the work, in time
	// limits (trajectory.Planner); 0: no bound, as in the paper.
	MaxHold float64
	// Replan is how often a pending reservation is looked at again, in seconds;
	// 0: never. varqd does so every few seconds. Here each look plans up to
	// Every/30 submissions anew, and most of a simulation's time goes there.
	Replan int64
}
