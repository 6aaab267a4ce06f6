package forecast

import (
	"math/rand/v2"

	"github.com/varq-project/varq/predictor/cluster/queue"
	"github.com/varq-project/varq/predictor/forecast/qbets"
	"github.com/varq-project/varq/predictor/forecast/twin"
	"github.com/varq-project/varq/predictor/workload"
)

// Predictor forecasts whatever is asked: submissions of the present by one Blend,
// later ones by another, which shares some of its forecasters. The queue that is
// now says much of the former, and less of the latter the farther they are; each
// Blend has weights and a calibration of its own, learnt from questions like those
// that it is asked. What might have been asked about a job before it was submitted
// is asked when it is: a rehearsal.
type Predictor struct {
	name           string
	rng            *rand.Rand
	members        members // of both
	forest         *Forest
	ahead          *Ahead
	present, later *Blend
	promises       promises
}

// Standard returns what varqd forecasts with, of a queue that others keep. More
// forecasters, as a site's own, may join it.
func Standard(q *queue.Queue, o twin.Options, rng *rand.Rand, more ...Forecaster) *Predictor {
	return newPredictor("blend", NewForest(rng, NewTwin(q, o, rng)), rng, more...)
}

// History returns what can be forecast without simulating the queue.
func History(rng *rand.Rand) *Predictor {
	return newPredictor("history", NewForest(rng, nil), rng)
}

func newPredictor(name string, f *Forest, rng *rand.Rand, more ...Forecaster) *Predictor {
	past := &QBETS{Predictor: qbets.New(qbets.Options{})}
	ahead := newAhead(f, rng)
	return &Predictor{
		name: name, rng: rng, forest: f, ahead: ahead,
		present:  NewBlend(name, rng, append([]Forecaster{f, past}, more...)...),
		later:    NewBlend("later", rng, append([]Forecaster{ahead, past}, more...)...),
		members:  append([]Forecaster{ahead, f, past}, more...),
		promises: newPromises(),
	}
}

// unhurried is how many jobs before the end trees are grown half as often as at it.
const unhurried = 1500

// Present is the Blend that forecasts submissions of the present, for who asks about
// no others: told what happens itself, it saves what the later ones cost to learn.
func (p *Predictor) Present() *Blend { return p.present }

// Hurry tells p that only what comes after so many more jobs matters: until it is
// told 0, it takes less trouble over what it has learnt, the less the more are left.
func (p *Predictor) Hurry(left int) {
	times := 1 + left/unhurried
	p.forest.present.Hurry(times)
	p.ahead.model.Hurry(times)
}

// Name implements Forecaster.
func (p *Predictor) Name() string { return p.name }

// Forecast implements Forecaster.
func (p *Predictor) Forecast(q *Question, a *Answer) bool {
	if q.Submit > q.Now+shortest {
		return p.later.Forecast(q, a)
	}
	return p.present.Forecast(q, a)
}

// Submitted implements Observer.
func (p *Predictor) Submitted(j *workload.Job) {
	p.present.expect(j, ask(j))
	if p.ahead.model.Learnt() < enough || p.rng.IntN(seldom) == 0 {
		q := rehearse(j, p.rng)
		p.later.expect(j, q)
		p.ahead.expect(j, &q)
	}
	p.members.Submitted(j)
}

// Started implements Observer.
func (p *Predictor) Started(j *workload.Job) {
	p.present.started(j)
	p.later.started(j)
	p.promises.started(j)
	p.members.Started(j)
}

// Ended implements Observer.
func (p *Predictor) Ended(j *workload.Job) {
	p.present.ended(j)
	p.later.ended(j)
	p.promises.ended(j)
	p.members.Ended(j)
}
