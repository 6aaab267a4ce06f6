// Package walltime predicts how long jobs run from how long similar jobs ran, as
// Smith, Foster and Taylor do ("Predicting Application Run Times Using Historical
// Information", 1998; used by Smith 2000, section 4.1). What similar means is not
// decided beforehand: templates say in what jobs may be alike, each job belongs
// to one category of each template, and those categories count that are sure of
// what they say.
package walltime

import (
	"math"

	"github.com/varq-project/varq/predictor/sched"
)

// Prediction is how long a job is thought to run.
type Prediction struct {
	Seconds float64 // between 1 and the job's limit
	// Spread is the standard deviation of the logarithm of the run time around
	// what the surest category says.
	Spread   float64
	Jobs     int    // past jobs of that category
	Template string // what they have in common with the job
}

// memory is how many jobs a category remembers, the newest. Users change what they
// do: on real logs the error hardly changes between 5 and 8, and grows beyond.
const memory = 7

// most is how many categories are remembered, the last used.
const most = 1 << 17

// Predictor predicts run times. The zero Predictor has learnt nothing.
//
// Learning and predicting take a constant time for each of the templates.
type Predictor struct {
	categories store
}

// Predict returns what the categories say that j belongs to, or false if none has
// two jobs.
//
// All is done with logarithms of run times. A category says the mean, or the mean
// of run time by time asked for, or what a line against the logarithm of the
// processors says. Smith lets the category with the tightest confidence interval
// speak alone, in seconds, where one that is about short jobs always seems surest.
// Here all speak, with weights inverse to the square of their variances: nearly
// the same as the tightest alone, but not at the mercy of a handful of jobs that
// happen to be alike.
func (p *Predictor) Predict(j *sched.Job) (Prediction, bool) {
	best := Prediction{Spread: math.Inf(1)}
	weight, sum := 0., 0.
	longest := math.Log(float64(max(1, j.Limit)))
	for i := range templates {
		t := &templates[i]
		k, ok := t.key(j)
		if !ok {
			continue
		}
		c := p.categories.get(k)
		if c == nil {
			continue
		}
		x, variance, ok := c.predict(t.by, j)
		if !ok {
			continue
		}
		w := 1 / (variance * variance)
		weight += w
		sum += w * max(0, min(x, longest))
		if spread := math.Sqrt(variance); spread < best.Spread {
			best.Spread, best.Jobs, best.Template = spread, c.n, t.name
		}
	}
	if weight == 0 {
		return Prediction{}, false
	}
	best.Seconds = math.Exp(sum / weight)
	return best, true
}

// Estimate returns the predicted run time in whole seconds.
func (p *Predictor) Estimate(j *sched.Job) (seconds int64, ok bool) {
	prediction, ok := p.Predict(j)
	return min(int64(math.Ceil(prediction.Seconds)), max(1, j.Limit)), ok
}

// Learn takes in a job that has ended.
func (p *Predictor) Learn(j *sched.Job) {
	ended := remember(j)
	for i := range templates {
		if k, ok := templates[i].key(j); ok {
			p.categories.obtain(k).add(ended)
		}
	}
}
