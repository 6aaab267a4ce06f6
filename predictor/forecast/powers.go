package forecast

import "github.com/varq-project/varq/predictor/workload"

// What follows are powers that an Observer or a Forecaster may have or not. Whoever can make use of
// one asks, by a type assertion, whether it is there.

// Changer is an Observer that is told how many tasks of an array still wait, which jobs a limit
// keeps from starting, and how priorities and requests change.
type Changer interface {
	// Changed says that j, which waits, has another number of Tasks than before, or that its
	// Request, AtLimit, QOSFull or Priority is another; or that j, which runs, has another Limit.
	Changed(j *workload.Job)
}

// Preparer is a Forecaster that is told of several questions before they are asked one by one,
// since one call with many may be much cheaper than many calls.
type Preparer interface {
	// Prepare is given the questions of a plan, which differ only in Submit and Limit. It may be
	// called whenever Forecast may.
	Prepare(questions []Question)
}

// Relearner is an Observer that learns the past by itself.
type Relearner interface {
	// Relearn says that not all events of late have been told: what was learnt is to be forgotten,
	// and the past to be learnt again.
	Relearn()
}
