// Package blend combines the forecasts of several experts into one whose probabilities
// hold.
//
// A forecast passes through five stages:
//
//	experts         each answers the question by itself
//	mixture         their distributions are averaged, by weights learnt from their
//	                scores on jobs of the same partition and QOS (package mixture)
//	tails           a little probability is moved to delays longer than any before
//	recalibration   probabilities are replaced by how often such probabilities came
//	                true (package recalibration)
//	lower bounds    a confidence bound on each probability is what promises rest on
//
// A Blend learns prequentially (Dawid 1984): it forecasts every job when that begins to
// wait, keeps the forecast, and scores it when the job starts.
package blend

import (
	"cmp"
	"math/rand/v2"
	"sync"
	"sync/atomic"

	"github.com/varq-project/varq/predictor/delay"
	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/forecast/mixture"
	"github.com/varq-project/varq/predictor/forecast/pending"
	"github.com/varq-project/varq/predictor/forecast/recalibration"
	"github.com/varq-project/varq/predictor/workload"
)

// Blend is a forecast.Forecaster made of others. It has no answer while an expert says
// that the cluster is down.
type Blend struct {
	name          string
	experts       forecast.Experts
	rng           *rand.Rand
	weights       mixture.Weights
	recalibration *recalibration.Recalibration

	unsettled pending.Sample[*record]
	// latest is the newest forecast, if nothing has happened since it was made. A job
	// is often submitted just after the question was asked about it.
	latest  atomic.Pointer[record]
	spare   sync.Pool       // of *record, since few are kept
	discard forecast.Answer // to questions that the Blend asks itself
}

// record is a forecast, as far as it is needed once the outcome is known.
type record struct {
	question     forecast.Question
	answered     bool
	class        string
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

// New returns a Blend of experts that has learnt nothing. Its Observer methods tell
// the experts what happens. rng serves to spread delays of 0 over their probability.
func New(name string, rng *rand.Rand, experts ...forecast.Forecaster) *Blend {
	return &Blend{
		name:          name,
		experts:       experts,
		rng:           rng,
		weights:       mixture.New(len(experts)),
		recalibration: recalibration.New(),
		unsettled:     pending.New[*record](),
		spare:         sync.Pool{New: func() any { return &record{opinions: make([]opinion, len(experts))} }},
	}
}

// SetConfidence sets the confidence of the lower bounds, in (0,1). It is .95 before.
func (b *Blend) SetConfidence(confidence float64) { b.recalibration.SetConfidence(confidence) }

// Experts returns the experts.
func (b *Blend) Experts() []forecast.Forecaster { return b.experts }

// Name implements forecast.Forecaster.
func (b *Blend) Name() string { return b.name }

// Forecast implements forecast.Forecaster.
func (b *Blend) Forecast(q *forecast.Question, a *forecast.Answer) bool {
	r := b.spare.Get().(*record)
	ok := b.combine(q, a, r)
	b.keep(r)
	return ok
}

// combine answers q into a, and records the forecast in r.
func (b *Blend) combine(q *forecast.Question, a *forecast.Answer, r *record) bool {
	r.question, r.class = *q, classOf(&q.Request)
	weights := make([]float64, len(b.experts))
	b.weights.Of(r.class, weights)
	down, sum := "", 0.
	for i, e := range b.experts {
		o := &r.opinions[i]
		o.answered = e.Forecast(q, a)
		o.wait, o.Evidence = a.Wait, a.Evidence
		down = cmp.Or(down, o.Down)
		if o.answered {
			sum += weights[i]
		}
	}
	*a = forecast.Answer{Evidence: forecast.Evidence{Down: down}}
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
	b.recalibration.Apply(&r.mixture, &r.recalibrated)
	a.Wait = r.recalibrated.Wait
	b.recalibration.Lower(&a.Wait, &a.Lower)
	return r.answered
}

// classOf names the jobs among which experts are compared.
func classOf(r *workload.Request) string { return r.Partition + "/" + r.QOS }

// keep makes r the latest forecast, or none if it is nil.
func (b *Blend) keep(r *record) {
	if old := b.latest.Swap(r); old != nil {
		b.spare.Put(old)
	}
}
