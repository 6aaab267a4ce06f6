package expert

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"

	"github.com/varq-project/varq/predictor/cluster/rollout"
	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/forecast/features"
	"github.com/varq-project/varq/predictor/forecast/forest"
	"github.com/varq-project/varq/predictor/forecast/pending"
	"github.com/varq-project/varq/predictor/forecast/twin"
	"github.com/varq-project/varq/predictor/workload"
)

// Forest forecasts from the waits of jobs in similar situations. Package features puts
// a situation into numbers, and package forest learns which situations are similar.
type Forest struct {
	extractor  *features.Extractor
	twin       *twin.Twin // or nil
	simulating sync.Mutex // guards twin while forecasts ask it
	present    *forest.Model
	waiting    pending.Sample[forest.Case]
	last       atomic.Pointer[situation]
}

// situation is a question as a case of the model.
type situation struct {
	question  forecast.Question
	present   forest.Case
	simulated string // the policy of the twin, or empty
}

// NewForest returns a Forest that has learnt nothing. It tells the twin, if not nil,
// what happens, and adds what the twin expects to the features of a situation. As a
// rollout costs more than learning, it then learns thoroughly. Trees grow in the
// background, or at once if that is nil.
func NewForest(rng *rand.Rand, t *twin.Twin, b forest.Background) *Forest {
	count, effort := features.Count, forest.Light
	if t != nil {
		count, effort = count+simulated, forest.Thorough
	}
	return &Forest{
		extractor: features.New(),
		twin:      t,
		present:   forest.New(count, effort, rng, b),
		waiting:   pending.New[forest.Case](),
	}
}

// simulated is the number of features that a twin adds.
const simulated = 2 + rollout.Orders

// SlowDown is forest.Model's.
func (f *Forest) SlowDown(times int) { f.present.SlowDown(times) }

// Name returns "forest".
func (*Forest) Name() string { return "forest" }

// Forecast implements forecast.Forecaster.
func (f *Forest) Forecast(q *forecast.Question, a *forecast.Answer) bool {
	s := f.situation(q)
	*a = forecast.Answer{}
	a.Sample = float64(min(f.present.Learnt(), 1000))
	a.Simulated = s.simulated
	return f.present.Predict(s.present, &a.Wait)
}

// situation returns the situation of a question.
func (f *Forest) situation(q *forecast.Question) *situation {
	if s := f.last.Load(); s != nil && s.question == *q {
		return s
	}
	s := &situation{question: *q}
	var v features.Vector
	f.extractor.Look(&q.Request, q.Now, q.Submit, &v)
	known := v[:]
	if f.twin != nil {
		f.simulating.Lock()
		p := f.twin.Point(&q.Request, q.Now)
		f.simulating.Unlock()
		s.simulated = p.Policy.String()
		known = append(known, features.Delay(float64(p.Expected)), features.Delay(float64(p.Limits)))
		for _, wait := range p.ByOrder {
			known = append(known, features.Delay(float64(wait)))
		}
	}
	s.present = f.present.Case(known)
	f.last.Store(s)
	return s
}

// Submitted implements forecast.Observer.
func (f *Forest) Submitted(j *workload.Job) {
	if f.waiting.Wants(j.ID) {
		q := forecast.AtSubmission(j)
		f.waiting.Put(j.ID, f.situation(&q).present)
	}
	f.present.Grow() // here, as a start has to be taken in quickly
	f.changed()
	f.extractor.Submitted(j)
	if f.twin != nil {
		f.twin.Submitted(j)
	}
}

// Started implements forecast.Observer.
func (f *Forest) Started(j *workload.Job) {
	if c, ok := f.waiting.Take(j.ID); ok {
		if wait, ok := j.Wait(); ok {
			f.present.Learn(c, float64(wait))
		}
	}
	f.changed()
	f.extractor.Started(j)
	if f.twin != nil {
		f.twin.Started(j)
	}
}

// Ended implements forecast.Observer.
func (f *Forest) Ended(j *workload.Job) {
	f.waiting.Take(j.ID)
	f.changed()
	f.extractor.Ended(j)
	if f.twin != nil {
		f.twin.Ended(j)
	}
}

// changed forgets the situation that was last asked about.
func (f *Forest) changed() { f.last.Store(nil) }
