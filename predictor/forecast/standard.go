package forecast

import (
	"math/rand/v2"

	"github.com/varq-project/varq/predictor/qbets"
	"github.com/varq-project/varq/predictor/queue"
	"github.com/varq-project/varq/predictor/twin"
)

// Standard returns the Blend that varqd forecasts with, of a queue that others
// keep. More forecasters, as a site's own, may join it.
func Standard(q *queue.Queue, o twin.Options, rng *rand.Rand, more ...Forecaster) *Blend {
	t := NewTwin(q, o, rng)
	members := []Forecaster{NewForest(rng, t), QBETS{qbets.New(qbets.Options{})}, t}
	return NewBlend(rng, append(members, more...)...)
}
