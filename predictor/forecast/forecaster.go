// Package forecast holds the words of this wing: the Question how long a job will wait,
// the Answer, the Forecaster that gives it, and the Replay of past jobs to learn from.
//
// A forecast is made by the packages below, each of which uses those before it:
//
//	qbets, forest, features, twin, downey
//	               methods: what the past, and the queue as it is, tell of waits
//	expert         forecasters of those methods
//	mixture        weighs experts by their past scores
//	recalibration  replaces probabilities by how often such probabilities came true
//	blend          combines experts into one forecast by both
//	predictor      forecasts with one blend for submissions now and one for later ones,
//	               and says what may be promised
//
// The wing has no clock and does no I/O. Times are Unix seconds, and events are told in
// their order, live or from a log.
package forecast

import "github.com/varq-project/varq/predictor/workload"

// Observer is told what happens to the jobs of a cluster, in the order of time. Of
// events in the same second, ends come first, then starts, then submissions. An
// Observer must not keep a job that it is told of, since that may change later.
type Observer interface {
	// Submitted: j waits from j.Eligible on. Its Start and End are 0.
	Submitted(j *workload.Job)
	// Started: j started at j.Start. It need not have been seen waiting.
	Started(j *workload.Job)
	// Ended: j ended at j.End. If its Start is 0, it was cancelled before it started.
	Ended(j *workload.Job)
}

// Forecaster is one way to forecast how long jobs wait. Its Observer methods must not
// run at the same time as any other method. Forecast may run several times at once.
type Forecaster interface {
	Observer
	// Name is a word in lower case, different for each Forecaster.
	Name() string
	// Forecast answers q. It overwrites a, and changes nothing else that can be seen.
	// It reports false when it has no answer; a.Down says why if that is an outage.
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
