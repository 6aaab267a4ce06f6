package expert

import (
	"math"
	"math/rand/v2"

	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/forecast/features"
	"github.com/varq-project/varq/predictor/forecast/forest"
	"github.com/varq-project/varq/predictor/forecast/pending"
	"github.com/varq-project/varq/predictor/workload"
)

// Ahead forecasts jobs that are yet to be submitted. Its model learns from rehearsals: when
// a job begins to wait, Ahead answers a question that might have been asked about the job
// some time before. It thus learns how much the state of the queue says about later
// submissions. It answers a Question whose Now lies in the past with what was known then.
type Ahead struct {
	forest  *Forest // simulates the present queue
	moments moments
	model   *forest.Model
	waiting pending.Sample[forest.Case]
	rng     *rand.Rand
}

const (
	// MinLead and maxLead are the shortest and the longest time, in seconds, from the
	// question of a rehearsal to the submission of its job.
	MinLead = 300
	maxLead = 86_400
	// Every job is rehearsed until the model has learnt from plenty of rehearsals. From
	// then on, one in rehearsedOf jobs is, which is enough and costs less.
	plenty      = 5000
	rehearsedOf = 4
)

// NewAhead returns an Ahead that has learnt nothing. It shares the features that f extracts
// from the queue. So the caller must tell f of each event, too, after it has told Ahead.
func NewAhead(f *Forest, rng *rand.Rand, b forest.Background) *Ahead {
	model := forest.New(features.Count+2, forest.Light, rng, b)
	model.Late(1)
	return &Ahead{
		forest:  f,
		moments: moments{extractor: f.extractor},
		model:   model,
		waiting: pending.New[forest.Case](),
		rng:     rng,
	}
}

// SlowDown slows down the growth of trees, as forest.Model's method says.
func (f *Ahead) SlowDown(factor int) { f.model.SlowDown(factor) }

// Name returns "ahead".
func (*Ahead) Name() string { return "ahead" }

// Forecast implements forecast.Forecaster.
func (f *Ahead) Forecast(q *forecast.Question, a *forecast.Answer) bool {
	*a = forecast.Answer{}
	c := f.caseOf(q)
	if c == nil {
		return false
	}
	a.Sample = float64(min(f.model.Learnt(), 1000))
	if !f.model.Predict(c, &a.Wait) {
		return false
	}
	if f.forest.beyond != nil && f.moments.present(q.Now) {
		a.Beyond = f.forest.beyond.apply(&a.Wait, f.forest.later(q), &q.Request)
	}
	return true
}

// caseOf returns a question as a case of the model, or nil if its Now is forgotten.
func (f *Ahead) caseOf(q *forecast.Question) forest.Case {
	m, ok := f.moments.at(q.Now)
	if !ok {
		return nil
	}
	var v features.Vector
	m.Look(&q.Request, q.Job, m.at, q.Submit, &v)
	// meanwhile the queue is served
	lead := q.Submit - m.at - f.forest.Windows(q.Place()).Closed(m.at, q.Submit)
	return f.model.Case(append(v[:], features.Delay(float64(lead)), f.forest.overtaking(q)))
}

// Rehearse returns a question for the rehearsal of a job that begins to wait. It reports
// false if the job is not to be rehearsed. The time from Now to Submit is log-uniform.
func (f *Ahead) Rehearse(j *workload.Job) (q forecast.Question, ok bool) {
	if f.model.Learnt() >= plenty && f.rng.IntN(rehearsedOf) != 0 {
		return q, false
	}
	q = forecast.AtSubmission(j)
	q.Now -= int64(MinLead * math.Exp(f.rng.Float64()*math.Log(maxLead/float64(MinLead))))
	return q, true
}

// Expect stores the rehearsal of a job, to learn from it when the job starts.
func (f *Ahead) Expect(j *workload.Job, q *forecast.Question) {
	if c := f.caseOf(q); c != nil {
		f.waiting.Put(j.ID, c)
	}
}

// Submitted implements forecast.Observer.
func (f *Ahead) Submitted(j *workload.Job) {
	f.model.Grow()
	f.moments.remember(j.Since())
}

// Started implements forecast.Observer.
func (f *Ahead) Started(j *workload.Job) {
	f.moments.remember(j.Start)
	if c, ok := f.waiting.Take(j.ID); ok {
		if wait, ok := j.Wait(); ok {
			f.model.Learn(c, float64(wait))
		}
	}
}

// Ended implements forecast.Observer.
func (f *Ahead) Ended(j *workload.Job) {
	f.moments.remember(j.End)
	f.waiting.Take(j.ID)
}
