// Package completion forecasts when jobs will have ended: how long they wait and run, together.
//
// A forecast passes through three stages:
//
//	sum             the distribution of the wait is convolved with the distribution of the
//	                run time, which the time limit truncates. (The product of two
//	                probabilities, of a start in time and of a run within the rest, would
//	                require far later deadlines.)
//	dependence      jobs that waited for longer than expected may also run for longer: a
//	                Gaussian copula with a learnt correlation joins the two (dependence.go)
//	recalibration   each probability is replaced by how often such probabilities came true,
//	                for wait and run time together (package recalibration). The outcome of
//	                a forecast is known late. So the forecast is a mixture of the replaced
//	                and the plain probability, by how well each has done.
//
// Like a blend, a Forecaster learns prequentially: it forecasts every job when the job begins to
// wait, and learns when the job has ended.
package completion

import (
	"math/rand/v2"
	"sync/atomic"

	"github.com/varq-project/varq/predictor/cluster/walltime"
	"github.com/varq-project/varq/predictor/delay"
	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/forecast/mixture"
	"github.com/varq-project/varq/predictor/forecast/pending"
	"github.com/varq-project/varq/predictor/forecast/recalibration"
	"github.com/varq-project/varq/predictor/workload"
)

// RunTimes predicts how long jobs run.
type RunTimes interface {
	// RunTime returns the distribution of the run time of a job with the question's Request.
	RunTime(q *forecast.Question) walltime.Distribution
}

// Forecaster is a forecast.Forecaster of the time from the beginning of a job's wait to the job's
// end.
type Forecaster struct {
	waits         forecast.Forecaster
	runs          RunTimes
	rng           *rand.Rand
	dependence    dependence
	recalibration *recalibration.Recalibration
	weights       mixture.Weights         // of the sum and of the sum recalibrated
	unscored      pending.Sample[*record] // by job that has not ended
	latest        atomic.Pointer[record]  // the newest forecast, or nil if an event has come since
	answer        forecast.Answer         // reused by Expect
}

// record is what a Forecaster stores of a forecast to learn from its outcome.
type record struct {
	question     forecast.Question
	answered     bool
	wait         delay.Distribution
	run          walltime.Distribution
	sum          delay.Distribution
	recalibrated recalibration.Forecast
	waited       float64 // rank of the wait, in (0,1), or 0 until it is known
}

// New returns a Forecaster that has learnt nothing. Its Observer methods pass each event on to
// waits. rng breaks ties, as in a blend.
func New(waits forecast.Forecaster, runs RunTimes, rng *rand.Rand) *Forecaster {
	return &Forecaster{waits: waits, runs: runs, rng: rng, recalibration: recalibration.New(), weights: mixture.New(2), unscored: pending.New[*record]()}
}

// everybody is the one group of weights, and the one user of the recalibration. The sum already has
// each user's run times, and users differ mainly in these. On real logs a recalibration for each
// user made the losses of high quantiles 5 % greater.
const everybody = ""

// Name is the name of a Forecaster.
const Name = "completion"

// Name implements forecast.Forecaster.
func (*Forecaster) Name() string { return Name }

// Forecast implements forecast.Forecaster. a.Wait and a.Lower are about the time until the job
// ends. The Evidence is that of the forecast of the wait.
func (f *Forecaster) Forecast(q *forecast.Question, a *forecast.Answer) bool {
	r := &record{question: *q}
	r.answered = f.waits.Forecast(q, a)
	if !r.answered {
		f.latest.Store(r)
		return false
	}
	run := f.runs.RunTime(q)
	r.wait, r.run = a.Wait, run
	f.join(r, a, &run)
	f.latest.Store(r)
	return true
}

// join takes the distribution of a job's wait in a.Wait, and replaces it by the distribution of the
// time until the job ends. r gets the intermediate results.
func (f *Forecaster) join(r *record, a *forecast.Answer, run *walltime.Distribution) {
	f.dependence.sum(&a.Wait, run, &r.sum)
	f.recalibration.Apply(everybody, &r.sum, &r.recalibrated)
	weights := make([]float64, 2)
	f.weights.Fill(weights, everybody)
	a.Wait = delay.Distribution{}
	a.Wait.Mix(&r.sum, weights[0])
	a.Wait.Mix(&r.recalibrated.Wait, weights[1])
	a.Recalibrated = f.recalibration.Effective()
	f.recalibration.LowerBounds(everybody, &a.Wait, &a.Lower)
}

// SetConfidence sets the confidence of the lower bounds on probabilities, in (0,1). The default is
// .95.
func (f *Forecaster) SetConfidence(confidence float64) { f.recalibration.SetConfidence(confidence) }

// Submitted implements forecast.Observer.
func (f *Forecaster) Submitted(j *workload.Job) {
	f.Expect(j, forecast.AtSubmission(j))
	f.waits.Submitted(j)
}

// Started implements forecast.Observer.
func (f *Forecaster) Started(j *workload.Job) {
	f.Waited(j)
	f.waits.Started(j)
}

// Changed implements forecast.Changer.
func (f *Forecaster) Changed(j *workload.Job) {
	f.latest.Store(nil)
	if c, ok := f.waits.(forecast.Changer); ok {
		c.Changed(j)
	}
}

// Ended implements forecast.Observer.
func (f *Forecaster) Ended(j *workload.Job) {
	f.Score(j)
	f.waits.Ended(j)
}

// Expect forecasts the answer to q, a question about a job that begins to wait. It stores the
// forecast until the job ends. Submitted, Started and Ended call Expect, Waited and Score, and then
// pass the event on to the forecaster of waits. A caller of Expect, Waited and Score does that
// itself.
func (f *Forecaster) Expect(j *workload.Job, q forecast.Question) {
	if f.unscored.Wants(j.ID) {
		r := f.latest.Load()
		if r == nil || r.question != q {
			f.Forecast(&q, &f.answer)
			r = f.latest.Load()
		}
		f.unscored.Put(j.ID, r)
	}
	f.latest.Store(nil)
}

// Waited takes in the wait of a job that has started.
func (f *Forecaster) Waited(j *workload.Job) {
	f.latest.Store(nil)
	if r, ok := f.unscored.Get(j.ID); ok && r.answered {
		if wait, ok := j.Wait(); ok {
			r.waited = r.wait.PIT(float64(wait), f.rng.Float64())
		}
	}
}

// Score learns from the stored forecast for a job that has ended. A job that never started teaches
// nothing.
func (f *Forecaster) Score(j *workload.Job) {
	f.latest.Store(nil)
	r, ok := f.unscored.Take(j.ID)
	if !ok || !r.answered || r.waited == 0 {
		return
	}
	run := max(0, j.End-j.Start)
	low, high := r.run.Below(run), r.run.Within(run)
	f.dependence.learn(r.waited, low+(high-low)*f.rng.Float64())
	took := float64(j.End - j.Since())
	f.weights.Learn(everybody, []float64{r.sum.CRPS(took), r.recalibrated.Wait.CRPS(took)}, 1)
	f.recalibration.Learn(everybody, 1, &r.sum, &r.recalibrated, took, f.rng.Float64())
}
