// Package predictor assembles what varqd forecasts with: experts, a blend of them for
// jobs submitted now and one for jobs submitted later, and what the forecasts are worth
// when they are chosen to promise something.
//
// There are two blends since the present state of the queue says much of a job that is
// submitted now, and the less the later one is. Each has mixture weights and a
// recalibration of its own, learnt from questions like those that it answers. Nobody
// asks about most jobs before they are submitted. So when one is, the later blend and
// its experts rehearse: they are asked what might have been asked some time before.
package predictor

import (
	"math/rand/v2"

	"github.com/varq-project/varq/predictor/cluster/queue"
	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/forecast/blend"
	"github.com/varq-project/varq/predictor/forecast/expert"
	"github.com/varq-project/varq/predictor/forecast/forest"
	"github.com/varq-project/varq/predictor/forecast/qbets"
	"github.com/varq-project/varq/predictor/forecast/twin"
	"github.com/varq-project/varq/predictor/workload"
)

// Predictor is a forecast.Forecaster of any submission, now or later.
type Predictor struct {
	name           string
	experts        forecast.Experts // of both blends, ahead before the forest whose features it shares
	forest         *expert.Forest
	ahead          *expert.Ahead
	present, later *blend.Blend
	promises       promises
}

// Options are what a Predictor is given. The zero Options are good.
type Options struct {
	// Pools are the pools of processors that partitions share. If nil they are learnt.
	Pools twin.Pools
	// Background runs what may take its time; nil: it is done at once. What is forecast
	// does not depend on it.
	Background forest.Background
}

// Standard returns the Predictor of varqd. It looks at q, which others keep, and which
// must know of each event before the Predictor does. A site's own forecasters may join
// the experts.
func Standard(q *queue.Queue, o Options, rng *rand.Rand, own ...forecast.Forecaster) *Predictor {
	return assemble("blend", expert.NewForest(rng, twin.New(q, o.Pools), o.Background), o, rng, own...)
}

// History returns a Predictor that does not simulate the queue.
func History(o Options, rng *rand.Rand) *Predictor {
	return assemble("history", expert.NewForest(rng, nil, o.Background), o, rng)
}

func assemble(name string, forest *expert.Forest, o Options, rng *rand.Rand, own ...forecast.Forecaster) *Predictor {
	past := &expert.QBETS{Predictor: qbets.New()}
	ahead := expert.NewAhead(forest, rng, o.Background)
	return &Predictor{
		name: name, forest: forest, ahead: ahead,
		present:  blend.New(name, rng, append([]forecast.Forecaster{forest, past}, own...)...),
		later:    blend.New("later", rng, append([]forecast.Forecaster{ahead, past}, own...)...),
		experts:  append([]forecast.Forecaster{ahead, forest, past}, own...),
		promises: newPromises(),
	}
}

// Present returns the blend for jobs submitted now. Told what happens itself, it is a
// Forecaster that saves what the later blend costs.
func (p *Predictor) Present() *blend.Blend { return p.present }

// Experts returns the experts for jobs submitted now.
func (p *Predictor) Experts() []forecast.Forecaster { return p.present.Experts() }

// SetConfidence sets the confidence of the lower bounds on probabilities, in (0,1). It
// is .95 before.
func (p *Predictor) SetConfidence(confidence float64) {
	p.present.SetConfidence(confidence)
	p.later.SetConfidence(confidence)
}

// hurried is how many jobs away from the end of a past trees grow half as often as at
// its end.
const hurried = 1500

// Hurry says that forecasts matter only after so many more jobs: until then the less
// effort is put into learning, the more are left. 0 ends the hurry.
func (p *Predictor) Hurry(left int) {
	times := 1 + left/hurried
	p.forest.SlowDown(times)
	p.ahead.SlowDown(times)
}

// Outage says when jobs cannot start, as Slurm reports it. It is called again with the
// same partition and beginning when the outage is over.
func (p *Predictor) Outage(o qbets.Outage) {
	for _, e := range p.experts {
		if e, ok := e.(interface{ Outage(qbets.Outage) }); ok {
			e.Outage(o)
		}
	}
}

// Name implements forecast.Forecaster.
func (p *Predictor) Name() string { return p.name }

// Forecast implements forecast.Forecaster.
func (p *Predictor) Forecast(q *forecast.Question, a *forecast.Answer) bool {
	if q.Submit > q.Now+expert.MinLead {
		return p.later.Forecast(q, a)
	}
	return p.present.Forecast(q, a)
}

// Submitted implements forecast.Observer.
func (p *Predictor) Submitted(j *workload.Job) {
	p.present.Expect(j, forecast.AtSubmission(j))
	if q, ok := p.ahead.Rehearse(j); ok {
		p.later.Expect(j, q)
		p.ahead.Expect(j, &q)
	}
	p.experts.Submitted(j)
}

// Started implements forecast.Observer.
func (p *Predictor) Started(j *workload.Job) {
	p.present.Score(j)
	p.later.Score(j)
	p.promises.score(j)
	p.experts.Started(j)
}

// Ended implements forecast.Observer.
func (p *Predictor) Ended(j *workload.Job) {
	p.present.Drop(j)
	p.later.Drop(j)
	p.promises.drop(j)
	p.experts.Ended(j)
}
