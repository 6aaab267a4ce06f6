// Package forecast is about how long jobs will wait: what every forecaster offers
// and is told, how the answers of several are blended into one, and how that one
// is kept honest against what came true. It has no clock and does no I/O: times
// are Unix seconds, and what happens is told in its order, live or from a log.
package forecast

import (
	"github.com/varq-project/varq/predictor/delay"
	"github.com/varq-project/varq/predictor/workload"
)

// Question asks how long a request will wait, Limit included, that becomes
// eligible at Submit, as far as can be known at Now. Submit is never before Now.
type Question struct {
	workload.Request
	Now, Submit int64
}

// Answer is what a forecaster says to a Question.
type Answer struct {
	// Wait is the distribution of the time from Question.Submit to the start.
	Wait delay.Distribution
	// Lower is a lower confidence bound on each probability of Wait, for who
	// must keep what is promised. Only a Blend says more than 0.
	Lower delay.Distribution
	// Evidence is what it rests on.
	Evidence
}

// Evidence is what a forecast rests on.
type Evidence struct {
	// Sample is the number of past waits, or of simulations, that count.
	Sample float64
	// Class names the jobs whose past was used, where there are classes.
	Class string
	// Changed is the time of the last change point in that past, or 0.
	Changed int64
	// Down says why nothing can be promised now, as during an outage: a sentence
	// without a full stop. It is empty in normal times.
	Down string
	// Simulated is the policy as which the queue was simulated, in words, where it
	// was.
	Simulated string
	// Members are the forecasters of a Blend that answered, and Calibrated is how
	// many recent forecasts that came true its calibration rests on.
	Members    []Member
	Calibrated float64
}

// Member is what one forecaster has to do with the answer of a Blend.
type Member struct {
	Name  string
	Share float64 // of the blend, from 0 to 1
	Evidence
}

// ask returns what is asked about a job that begins to wait.
func ask(j *workload.Job) Question {
	at := j.Since()
	return Question{Request: j.Request, Now: at, Submit: at}
}

// Observer is told what happens in a cluster's queue, in the order of time. At
// one moment, ends come before starts and starts before submissions. It must
// not keep the jobs, which may change.
type Observer interface {
	// Submitted: j waits from j.Eligible on. Its Start and End are 0.
	Submitted(j *workload.Job)
	// Started: j, which need not have been seen waiting, started at j.Start.
	Started(j *workload.Job)
	// Ended: j ended at j.End; it was cancelled before its start where that is 0.
	Ended(j *workload.Job)
}

// Forecaster is one way of forecasting queueing delay. Learning must not run at
// the same time as any other method; Forecast changes nothing that shows.
type Forecaster interface {
	Observer
	// Name is a word in lower case, different for each Forecaster.
	Name() string
	// Forecast answers q into a, which may hold an older answer. It reports
	// false, with Down set where that is why, when it knows nothing to say.
	Forecast(q *Question, a *Answer) bool
}
