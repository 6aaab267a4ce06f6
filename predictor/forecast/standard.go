package forecast

import (
	"math/rand/v2"

	"github.com/varq-project/varq/predictor/qbets"
	"github.com/varq-project/varq/predictor/queue"
	"github.com/varq-project/varq/predictor/twin"
)

// Standard returns the Blend that varqd forecasts with, of a queue that others
// keep: "blend". More forecasters, as a site's own, may join it.
func Standard(q *queue.Queue, o twin.Options, rng *rand.Rand, more ...Forecaster) *Blend {
	t := NewTwin(q, o, rng)
	members := []Forecaster{NewForest(rng, t), QBETS{qbets.New(qbets.Options{})}, later{t}}
	return NewBlend("blend", rng, append(members, more...)...)
}

// History returns the Blend of what can be known without simulating the queue:
// "history".
func History(rng *rand.Rand) *Blend {
	return NewBlend("history", rng, NewForest(rng, nil), QBETS{qbets.New(qbets.Options{})})
}

// later is a Twin that is asked about later submissions alone: of those that come
// now, a Forest that knows its points says more.
type later struct{ *Twin }

// Forecast implements Forecaster.
func (l later) Forecast(q *Question, a *Answer) bool {
	if q.Submit == q.Now {
		*a = Answer{}
		return false
	}
	return l.Twin.Forecast(q, a)
}
