package predictor

import (
	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/forecast/blend"
	"github.com/varq-project/varq/predictor/workload"
)

// present is the blend for jobs submitted now with its experts, which it tells of events in another
// order than it asks them: what learns from a simulation is told before the forest that simulates.
// So a job is simulated once, as the queue was when it came.
type present struct {
	*blend.Blend
	experts forecast.Experts
}

// Submitted implements forecast.Observer.
func (p present) Submitted(j *workload.Job) {
	p.Expect(j, forecast.AtSubmission(j))
	p.experts.Submitted(j)
}

// Started implements forecast.Observer.
func (p present) Started(j *workload.Job) {
	p.Score(j)
	p.experts.Started(j)
}

// Ended implements forecast.Observer.
func (p present) Ended(j *workload.Job) {
	p.Drop(j)
	p.experts.Ended(j)
}
