// Package walltime predicts the run times of jobs, not their time limits. It predicts them from the
// run times of similar jobs, as Smith, Foster and Taylor do ("Predicting Application Run Times
// Using Historical Information", 1998; used by Smith 2000, section 4.1). A template is a set of
// attributes that similar jobs share. Each job belongs to one category of each template. The
// category with the tightest confidence interval makes the prediction.
//
// Four things differ from the paper:
//   - Means, lines and intervals are of the logarithms of run times. So a category is not
//     tight merely because its jobs are short, and the mean is near the median, which has
//     the least absolute error.
//   - The interval is that of the next run time, not of the mean.
//   - A category remembers a sample of jobs that were submitted together. It does not
//     simply remember the last to end, which are the longest.
//   - The record of a template widens the intervals of its small categories. So a category
//     of one or two jobs can make a prediction, but is not the tightest by chance.
//
// A Distribution says more than a Prediction: the probability of every run time, for a job of
// any age. It is recalibrated by how well earlier distributions agreed with the run times that
// followed.
package walltime

import (
	"math"
	"math/rand/v2"

	"github.com/varq-project/varq/predictor/cluster/sched"
	"github.com/varq-project/varq/predictor/stats"
)

// recent is the number of jobs that a prediction uses. They are the newest of a category,
// because users change what they do. On real logs the error hardly changes between 4 and 7,
// and grows beyond.
const recent = 5

// memory is the number of jobs that a category remembers. It is more than recent, because
// predictions for running jobs use only jobs that ran for longer, and distributions use all
// jobs. On real logs, both more and fewer are worse.
const memory = 20

// doubt is the number of jobs as which the record of a template counts in the interval of a
// category. It is more than recent, so that categories that are tight by chance are not
// chosen. On real logs the error grows below 8, and hardly changes up to 32.
const doubt = 8

// after returns a logarithm that exactly the runs longer than an age exceed. It adds a
// thousandth of a second, because logarithms are not exact.
func after(age int64) float64 {
	if age <= 0 {
		return math.Inf(-1)
	}
	return math.Log(float64(age) + 1e-3)
}

// student is the .95 quantiles of Student's t, by degrees of freedom, from doubt on.
var student = func() (t [recent + doubt]float64) {
	for v := doubt; v < len(t); v++ {
		t[v] = stats.StudentQuantile(.95, float64(v))
	}
	return t
}()

// Prediction is the predicted run time of a job, from its start to its end.
type Prediction struct {
	// Seconds is at least 1 and at least the job's age. It is at most the limit, unless
	// the job has outlived that.
	Seconds float64
	// HalfWidth is half the width of the 90 % confidence interval of the logarithm of the
	// run time. Unless the limit or the age bounds Seconds, the interval is from
	// Seconds/e^HalfWidth to Seconds e^HalfWidth. It holds the run time less often than
	// 90 %, because it is the tightest of many.
	HalfWidth float64
	Jobs      int    // how many past jobs were used
	Template  string // what they have in common with the job
}

// Predictor predicts run times. The zero Predictor has learnt nothing.
//
// To learn or to predict takes a constant time, and memory is bounded, whatever the number of
// past jobs. To predict allocates nothing.
type Predictor struct {
	categories store
	records    [len(templates)]record
	random     rand.PCG // chooses the jobs to remember

	watch         watch
	reliabilities [milestones]reliability
}

// Predict returns the prediction for a job that has not started. It reports false if no
// similar job is known.
func (p *Predictor) Predict(j *sched.Job) (Prediction, bool) { return p.PredictRunning(j, 0) }

// PredictRunning returns the prediction for a job that has run for age seconds. It uses only
// similar jobs that ran for longer, and reports false if there are none.
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

// Basis is how many jobs like another one have ended, by the most special template that knows any.
// A Distribution that was made with another Basis is out of date.
type Basis struct{ template, jobs int }

// Basis returns that of a job.
func (p *Predictor) Basis(j *sched.Job) Basis {
	t, c := p.categories.special(j)
	if c == nil {
		return Basis{}
	}
	return Basis{t, c.added}
}

// Learn learns from a job that has ended.
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

// Distribution returns the distribution of the run time of a job that has run for age seconds,
// or 0 if it has not started. It is made from similar past jobs. It is recalibrated if
// Submitted and Started are called for all jobs. Distribution answers for any job, but vaguely
// if no similar job is known.
func (p *Predictor) Distribution(j *sched.Job, age int64) Distribution {
	d := p.past(j, age)
	k, share := between(d.age)
	return d.recalibrated(&p.reliabilities[k], &p.reliabilities[min(k+1, milestones-1)], share)
}
