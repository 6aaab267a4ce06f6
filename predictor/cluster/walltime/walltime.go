// Package walltime predicts how long jobs run from the run times of similar jobs, as
// Smith, Foster and Taylor do ("Predicting Application Run Times Using Historical
// Information", 1998; used by Smith 2000, section 4.1). A template is a set of attributes
// that similar jobs share. Each job belongs to one category of each template. The
// category with the tightest confidence interval makes the prediction.
//
// Four things differ from the paper:
//   - Means, lines and intervals are of the logarithms of run times. So a category is not
//     tight merely because its jobs are short, and the mean is near the median, which has
//     the least absolute error.
//   - The interval is that of the next run time, not of the mean.
//   - Of jobs submitted together a sample is remembered, rather than the last to end,
//     which are the longest.
//   - The interval of a small category is widened by the record of its template. So a
//     category of one or two jobs can make a prediction, but is not the tightest by
//     chance.
//
// A Distribution says more than a prediction: the probability of every run time, for a
// job of any age. It is recalibrated online by how earlier ones came true.
package walltime

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/varq-project/varq/predictor/cluster/sched"
)

// recent is the number of jobs that a prediction is made from: the newest of a category,
// as users change what they do. On real logs the error hardly changes between 4 and 7,
// and grows beyond.
const recent = 5

// memory is the number of jobs that a category remembers. More than recent are needed
// for the predictions that only long jobs qualify for, and for distributions. On real
// logs, both more and fewer are worse.
const memory = 20

// doubt is the number of jobs that the record of a template counts for in the interval of
// a category. It is more than a category's own, or categories that are tight by chance
// would be chosen. On real logs the error grows below, and hardly changes up to 32.
const doubt = 8

// after returns the logarithm of an age that longer runs exceed. A thousandth of a
// second makes up for logarithms not being exact.
func after(age int64) float64 {
	if age <= 0 {
		return math.Inf(-1)
	}
	return math.Log(float64(age) + 1e-3)
}

// student are .95 quantiles of Student's t, by degrees of freedom.
var student = func() (t [recent + doubt]float64) {
	for v := doubt; v < len(t); v++ {
		t[v] = distuv.StudentsT{Sigma: 1, Nu: float64(v)}.Quantile(.95)
	}
	return t
}()

// Prediction is how long a job is thought to run in all.
type Prediction struct {
	// Seconds is at least 1 and the job's age, and at most its limit unless the
	// job has outlived that.
	Seconds float64
	// HalfWidth is half the width of the 90 % confidence interval of the logarithm
	// of the run time, before the limit is thought of: from Seconds/e^HalfWidth to
	// Seconds e^HalfWidth. As the tightest of many it holds the run time less
	// often than it says.
	HalfWidth float64
	Jobs      int    // past jobs that say so
	Template  string // what they have in common with the job
}

// Predictor predicts run times. The zero Predictor has learnt nothing.
//
// Learning and predicting take a constant time, and memory is bounded, whatever the
// number of past jobs. Nothing is allocated to predict.
type Predictor struct {
	categories store
	records    [len(templates)]record
	random     rand.PCG // of which jobs are remembered

	watch         watch
	reliabilities [milestones]reliability
}

// Predict returns the prediction for a job that has not started, false if nothing
// is known of its like.
func (p *Predictor) Predict(j *sched.Job) (Prediction, bool) { return p.PredictRunning(j, 0) }

// PredictRunning returns the prediction for a job that has run for age seconds,
// from those past jobs only that ran for longer; false if there are none.
func (p *Predictor) PredictRunning(j *sched.Job, age int64) (Prediction, bool) {
	s := similarTo(j, p.categories.of(j))
	best, ok := p.surest(&s, age)
	if !ok {
		return Prediction{}, false
	}
	seconds := max(1, float64(age), min(math.Exp(best.run), float64(j.Limit)))
	return Prediction{seconds, best.halfWidth, best.jobs, templates[best.template].name}, true
}

// Estimate returns Predict's answer in whole seconds.
func (p *Predictor) Estimate(j *sched.Job) (seconds int64, ok bool) {
	prediction, ok := p.Predict(j)
	return int64(math.Ceil(prediction.Seconds)), ok
}

// Learn takes in a job that has ended.
func (p *Predictor) Learn(j *sched.Job) {
	p.test(j)
	run := math.Log(float64(max(1, j.End-j.Start)))
	s := similarTo(j, *p.categories.obtain(j))
	for t, c := range &s.alike {
		if c == nil {
			continue
		}
		by := templates[t].by
		procs, unit := s.units(by)
		if c.fit.n > 0 {
			predicted, lever := c.fit.predict(procs)
			p.records[t].add(predicted, lever, run-unit)
		}
		c.add(by, past{procs, run - unit}, j.Submit, j.End, &p.random)
	}
}

// Distribution returns how probable which run times are of a job that has run for
// age seconds, 0 if it has not started: what similar past jobs say, and what such
// sayings turned out to be worth if the predictor is told of Submitted and Started.
// It has an answer for any job, which is vague if nothing is known of its like.
func (p *Predictor) Distribution(j *sched.Job, age int64) Distribution {
	d := p.past(j, age)
	k, share := between(d.age)
	return d.recalibrated(&p.reliabilities[k], &p.reliabilities[min(k+1, milestones-1)], share)
}
