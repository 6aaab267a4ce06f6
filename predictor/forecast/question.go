package forecast

import (
	"github.com/varq-project/varq/predictor/delay"
	"github.com/varq-project/varq/predictor/workload"
)

// Question asks how long a job with this Request, its time limit included, will wait
// if it becomes eligible at Submit. The answer may use what is known at Now and nothing
// later. Invariant: Now <= Submit, both Unix seconds.
type Question struct {
	workload.Request
	Now, Submit int64
}

// AtSubmission returns the question how long j will wait, asked when it begins to.
func AtSubmission(j *workload.Job) Question {
	at := j.Since()
	return Question{Request: j.Request, Now: at, Submit: at}
}

// Answer is a Forecaster's answer to a Question.
type Answer struct {
	// Wait is the distribution of the time from Question.Submit to the start.
	Wait delay.Distribution
	// Lower is a lower confidence bound on each probability of Wait. A promise rests
	// on it. Experts leave it 0; only a blend of them bounds its probabilities.
	Lower delay.Distribution
	Evidence
}

// Evidence is what an Answer rests on. A zero field does not apply.
type Evidence struct {
	// Sample is the number of past waits, or of simulations, by effective weight.
	Sample float64
	// Class names the jobs whose past was used.
	Class string
	// Changed is the time of the last change point in that past, Unix seconds.
	Changed int64
	// Down says why nothing can be promised now, as during an outage: a sentence
	// without a full stop.
	Down string
	// Simulated names the scheduling policy as which the queue was simulated.
	Simulated string
	// Opinions are those of the experts that answered, if the answer is a mixture.
	Opinions []Opinion
	// Recalibrated is the effective sample size of the recalibration: how many recent
	// forecasts with known outcomes it rests on.
	Recalibrated float64
}

// Opinion is what one expert contributed to a mixture.
type Opinion struct {
	Expert string  // its name
	Weight float64 // its mixture weight; those of all Opinions sum up to 1
	Evidence
}
