package forecast

import (
	"github.com/varq-project/varq/predictor/delay"
	"github.com/varq-project/varq/predictor/workload"
)

// Question asks how long a job with this Request will wait if it becomes eligible at
// Submit. The answer may use what is known at Now and nothing later. Both are Unix seconds.
// Invariant: Now <= Submit.
type Question struct {
	workload.Request
	Now, Submit int64
	// Job is the job that asks, or 0 if there is none yet. The queue may have this job
	// already. It is not ahead of itself, so the answer leaves it out of the queue.
	Job int64
	// Since is when Job began to wait, if it waits already: the answer is about the rest of its
	// wait, from Submit on, which is Now. Otherwise Since is 0.
	Since int64
	// Tasks is how many tasks of an array the Request is of, all together; 0 for a job that is none.
	Tasks int32
}

// AtSubmission returns the question how long j will wait, asked when j begins to wait.
func AtSubmission(j *workload.Job) Question {
	at := j.Since()
	return Question{Request: j.Request, Now: at, Submit: at, Job: j.ID}
}

// Answer is a Forecaster's answer to a Question.
type Answer struct {
	// Wait is the distribution of the time from Question.Submit to the start.
	Wait delay.Distribution
	// Lower has a lower confidence bound on each probability of Wait. Promises rest on
	// it. Only a blend sets it; experts leave it zero.
	Lower delay.Distribution
	Evidence
}

// Evidence is what an Answer rests on. A zero field does not apply.
type Evidence struct {
	// Sample is the number of past waits, or of simulations. In a blend it is the mean of
	// the experts', by mixture weight.
	Sample float64
	// Class names the jobs whose past waits were used.
	Class string
	// Changed is the time of the last change point in these waits, Unix seconds.
	Changed int64
	// Down says why nothing can be promised now, as during an outage: a sentence
	// without a full stop.
	Down string
	// Beyond is how far the queue lies beyond all that was learnt from, from 0 to 1: as far
	// as that, the answer follows simulations of the queue instead of past waits.
	Beyond float64
	// Simulated names the scheduling policy that the queue was simulated with.
	Simulated string
	// Opinions are those of the experts that answered, if the answer is a mixture.
	Opinions []Opinion
	// Recalibrated is the effective sample size of the recalibration, in past forecasts
	// with known outcomes.
	Recalibrated float64
}

// Opinion is what one expert contributed to a mixture.
type Opinion struct {
	Expert string  // its name
	Weight float64 // its mixture weight; those of all Opinions sum up to 1
	Evidence
}

// Group names the group of jobs that r belongs to where forecasters are weighed by their scores:
// the jobs of its partition, node set and QOS, with like licences. The Class of an Evidence is
// another thing.
func Group(r *workload.Request) string {
	if r.Licences != "" {
		return r.Partition + r.NodeSet + " with " + string(r.Licences.Like()) + "/" + r.QOS
	}
	return r.Partition + r.NodeSet + "/" + r.QOS
}
