// Package blend combines the forecasts of several experts into one whose probabilities come true as
// often as they say.
//
// A forecast passes through six stages, in the order of combine (blend.go):
//
//	experts         each answers the question by itself
//	mixture         the experts' distributions are averaged, with weights learnt from
//	                their scores on jobs of the same partition and QOS (package mixture).
//	                Where the queue is longer than any that was learnt from, the experts
//	                that follow simulations gain the others' weights.
//	tails           a little probability is moved to longer delays (tails.go)
//	recalibration   each probability is replaced by how often such probabilities came
//	                true (package recalibration)
//	choice          the result is averaged with the distribution before recalibration,
//	                at each delay by the scores of both there (choice.go). Where the
//	                queue is longer than any that was learnt from, the tail from before
//	                recalibration is kept (tails.go).
//	lower bounds    each probability gets a lower confidence bound, which promises
//	                rest on (package recalibration)
//
// A Blend learns prequentially (Dawid 1984; learn.go): it forecasts jobs when they begin to wait,
// stores these forecasts, and scores each when its job starts. It does so for every job, or for a
// sample of the jobs while more than pending.Most wait.
package blend

import (
	"cmp"
	"math/rand/v2"
	"sync"
	"sync/atomic"

	"github.com/varq-project/varq/predictor/delay"
	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/forecast/influence"
	"github.com/varq-project/varq/predictor/forecast/mixture"
	"github.com/varq-project/varq/predictor/forecast/pending"
	"github.com/varq-project/varq/predictor/forecast/recalibration"
)

// Blend is a forecast.Forecaster made of others. It has no answer while an expert says
// that the cluster is down.
type Blend struct {
	name          string
	experts       forecast.Experts
	rng           *rand.Rand
	weights       mixture.Weights
	recalibration *recalibration.Recalibration
	choice        choice
	influence     *influence.Influence

	unscored pending.Sample[*record] // by job that waits
	// latest is the newest forecast, or nil if an event has come since. Thanks to it the same
	// forecast is not made twice: users often ask about a job and then submit it.
	latest  atomic.Pointer[record]
	spare   sync.Pool       // of *record: most are needed only until the next question
	discard forecast.Answer // room for answers that nobody reads
}

// record is what a Blend needs of a forecast to learn from its outcome.
type record struct {
	question     forecast.Question
	answered     bool
	group        string    // as forecast.Group returns it
	opinions     []opinion // by expert
	mixture      delay.Distribution
	recalibrated recalibration.Forecast
}

// opinion is the answer of one expert.
type opinion struct {
	answered bool
	wait     delay.Distribution
	forecast.Evidence
}

// New returns a Blend of experts that has learnt nothing. Its Observer methods pass each
// event on to the experts. rng ranks equal delays at random, so that their PITs (see
// package recalibration) are uniform.
func New(name string, rng *rand.Rand, experts ...forecast.Forecaster) *Blend {
	return &Blend{
		name:          name,
		experts:       experts,
		rng:           rng,
		weights:       mixture.New(len(experts)),
		recalibration: recalibration.New(),
		choice:        newChoice(),
		influence:     influence.New(),
		unscored:      pending.New[*record](),
		spare:         sync.Pool{New: func() any { return &record{opinions: make([]opinion, len(experts))} }},
	}
}

// SetConfidence sets the confidence of the lower bounds, in (0,1). The default is .95.
func (b *Blend) SetConfidence(confidence float64) { b.recalibration.SetConfidence(confidence) }

// Experts returns the experts.
func (b *Blend) Experts() []forecast.Forecaster { return b.experts }

// Name implements forecast.Forecaster.
func (b *Blend) Name() string { return b.name }

// Forecast implements forecast.Forecaster.
func (b *Blend) Forecast(q *forecast.Question, a *forecast.Answer) bool {
	r := b.spare.Get().(*record)
	ok := b.combine(q, a, r)
	b.setLatest(r)
	return ok
}

// combine answers q into a, and records the forecast in r.
func (b *Blend) combine(q *forecast.Question, a *forecast.Answer, r *record) bool {
	r.question, r.group = *q, forecast.Group(&q.Request)
	weights := make([]float64, len(b.experts))
	b.weights.Fill(weights, r.group)
	down, sum, beyond := "", 0., 0.
	for i, e := range b.experts {
		o := &r.opinions[i]
		o.answered = e.Forecast(q, a)
		o.wait, o.Evidence = a.Wait, a.Evidence
		down = cmp.Or(down, o.Down)
		if o.answered {
			beyond = max(beyond, o.Beyond)
		}
	}
	for i := range r.opinions {
		if o := &r.opinions[i]; o.answered {
			// An expert that knows past waits alone knows nothing beyond them.
			weights[i] *= 1 - beyond + o.Beyond
			sum += weights[i]
		}
	}
	*a = forecast.Answer{Evidence: forecast.Evidence{Down: down, Beyond: beyond}}
	r.answered = down == "" && sum != 0
	if sum == 0 {
		return false
	}
	r.mixture = delay.Distribution{}
	a.Opinions = make([]forecast.Opinion, 0, len(b.experts))
	for i := range r.opinions {
		o := &r.opinions[i]
		if !o.answered {
			continue
		}
		weight := weights[i] / sum
		r.mixture.Mix(&o.wait, weight)
		a.Sample += weight * o.Sample
		a.Changed = max(a.Changed, o.Changed)
		a.Class = cmp.Or(a.Class, o.Class)
		a.Opinions = append(a.Opinions, forecast.Opinion{Expert: b.experts[i].Name(), Weight: weight, Evidence: o.Evidence})
	}
	addTails(&r.mixture)
	a.Recalibrated = b.recalibration.Effective()
	b.recalibration.Apply(q.User, &r.mixture, &r.recalibrated)
	b.choice.mix(q.User, &r.mixture, &r.recalibrated.Wait, &a.Wait)
	keepTail(&a.Wait, &r.mixture, beyond)
	b.recalibration.LowerBounds(q.User, &a.Wait, &a.Lower)
	return r.answered
}

// Forget forgets the newest forecast, since what it rests on has changed.
func (b *Blend) Forget() { b.setLatest(nil) }

// setLatest makes r, which may be nil, the latest forecast.
func (b *Blend) setLatest(r *record) {
	if old := b.latest.Swap(r); old != nil {
		b.spare.Put(old)
	}
}
