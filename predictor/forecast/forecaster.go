// Package forecast defines the terms of this wing: the Question how long a job will wait,
// the Answer, the Forecaster that gives it, and the Replay of past jobs to learn from.
//
// A forecast is made by the packages below. Each uses some of those above it:
//
//	qbets, forest, features, twin, downey
//	               methods: what past waits and the present queue say of a wait
//	extrapolation  follows simulations where the queue is longer than ever, while they prove true
//	influence      bounds what one user's outcomes teach about others
//	pending        stores what was forecast of a wait until the wait is known
//	expert         a Forecaster for each method
//	mixture        weighs experts by their past scores
//	recalibration  replaces probabilities by how often such probabilities came true
//	blend          combines experts into one forecast with mixture and recalibration
//	predictor      has a blend for submissions now and one for later submissions, and
//	               says what may be promised
//	completion     adds the run time to the wait: when a job will have ended
//
// The others stand beside these: score judges forecasts by their outcomes, fault forecasts failures
// of nodes, and speedup tells how much faster a program runs on more processors.
//
// The wing has no clock and does no I/O. Times are Unix seconds. Forecasters are told of
// events in the order of time, live or from a log.
package forecast

import "github.com/varq-project/varq/predictor/workload"

// Observer is told of the events of a cluster's jobs in the order of time. In the same
// second, ends come first, then starts, then submissions. An Observer must not retain the
// pointer to a job, since the job may change later.
type Observer interface {
	// Submitted says that j waits from j.Eligible on. Its Start and End are 0.
	Submitted(j *workload.Job)
	// Started says that j started at j.Start. Submitted need not have been called for j.
	Started(j *workload.Job)
	// Ended says that j ended at j.End. If its Start is 0, it was cancelled before it
	// started.
	Ended(j *workload.Job)
}

// Forecaster is one way to forecast how long jobs wait. Its Observer methods must not
// run at the same time as any other method. Forecast may run several times at once.
type Forecaster interface {
	Observer
	// Name is a word in lower case, different for each Forecaster.
	Name() string
	// Forecast overwrites a with the answer to q. It changes no later answer. It reports
	// false when it has no answer. If the reason is an outage, a.Down describes it.
	Forecast(q *Question, a *Answer) bool
}

// Experts are Forecasters that observe the same cluster.
type Experts []Forecaster

// Submitted implements Observer.
func (all Experts) Submitted(j *workload.Job) {
	for _, e := range all {
		e.Submitted(j)
	}
}

// Changed implements Changer.
func (all Experts) Changed(j *workload.Job) {
	for _, e := range all {
		if r, ok := e.(Changer); ok {
			r.Changed(j)
		}
	}
}

// Started implements Observer.
func (all Experts) Started(j *workload.Job) {
	for _, e := range all {
		e.Started(j)
	}
}

// Ended implements Observer.
func (all Experts) Ended(j *workload.Job) {
	for _, e := range all {
		e.Ended(j)
	}
}
