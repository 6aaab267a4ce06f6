package scenario

import "github.com/varq-project/varq/predictor/cluster/sched"

// Reservations says what share of the jobs ask for a reservation, and of which kind. At
// most one field may be set. If neither is set, no job asks for a reservation.
type Reservations struct {
	Hard *Hard
	VARQ *VARQ
}

// Hard are advance reservations: the scheduler grants each job a start at a fixed time
// and never breaks it.
type Hard struct {
	Share float64 // of the jobs
	// Ahead is the longest time, in seconds, between a job's submission and the start
	// that it asks for. The time is drawn uniformly from 0 to Ahead.
	Ahead int64
	// Protected is the share of the queue that a reservation may not delay.
	Protected float64
	// Restart is the price of stopping a running job. If it is nil, no job is stopped.
	Restart *sched.Restart
}

// VARQ are probabilistic reservations: ordinary jobs, submitted early enough to start by
// the deadline with the wanted probability.
type VARQ struct {
	Share float64 // of the jobs
	Prob  float64 // the wanted probability of starting by the deadline
	// Arrays, if not NoArrays, makes arrays of bursts of like jobs, and says of how many of their
	// tasks a promise is. Only arrays ask then, and Share is the share of them.
	Arrays Arrays
	// Every is the interval between deadlines in seconds, at least 1. The deadline of
	// a job is the first multiple of Every after its submission (VARQ 2007, section
	// 4.4).
	Every int64
	// BestEffort means that the work starts as soon as the job does. Otherwise the job
	// holds its processors, and the work starts at the deadline.
	BestEffort bool
	// TakeOffers means that whoever is refused takes the later deadline that is offered, if it is
	// MostLater later at most, and joins the queue at once if not. Otherwise all who are refused join
	// the queue at once. There must be no Arrays.
	TakeOffers bool
	Method     Method // of forecasting waits
	// MaxHold bounds how long a job may hold its processors before the work, as a
	// multiple of the job's time limit; see trajectory.Planner.MaxHold. An hour is
	// always allowed. 0 means no bound, as in the paper.
	MaxHold float64
	// MaxCost bounds how long a revised plan may let a job hold its processors before the
	// work, as a multiple, at least 1, of what was quoted with the promise; see
	// trajectory.Request.Ceiling. 0 means no bound.
	MaxCost float64
	// Replan is the interval, in seconds, at which a pending reservation is planned
	// anew; 0 means never. varqd's interval is a few seconds. Each plan takes up to
	// Every/30 forecasts, which take most of a simulation's time.
	Replan int64
}

// MostLater is how much later than asked for, in seconds, an offered deadline may be that is taken:
// a day.
const MostLater = 24 * 3600
