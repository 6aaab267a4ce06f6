package blend

import (
	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/workload"
)

// Submitted implements forecast.Observer.
func (b *Blend) Submitted(j *workload.Job) {
	b.Expect(j, forecast.AtSubmission(j))
	b.experts.Submitted(j)
}

// Started implements forecast.Observer.
func (b *Blend) Started(j *workload.Job) {
	b.Settle(j)
	b.experts.Started(j)
}

// Ended implements forecast.Observer.
func (b *Blend) Ended(j *workload.Job) {
	b.Drop(j)
	b.experts.Ended(j)
}

// Expect answers a question about a job that begins to wait, to learn from its
// outcome. Unlike Submitted it leaves it to the caller to tell the experts; so do
// Settle and Drop.
func (b *Blend) Expect(j *workload.Job, q forecast.Question) {
	if b.unsettled.Wants(j.ID) {
		if r := b.latest.Load(); r == nil || r.question != q {
			b.Forecast(&q, &b.discard)
		}
		b.unsettled.Put(j.ID, b.latest.Swap(nil))
	}
	b.keep(nil)
}

// Settle learns from a job that started, if it was expected.
func (b *Blend) Settle(j *workload.Job) {
	if r, ok := b.unsettled.Take(j.ID); ok {
		if wait, ok := j.Wait(); ok && r.answered {
			b.learn(r, float64(wait))
		}
		b.spare.Put(r)
	}
	b.keep(nil)
}

// Drop expects a job no longer: one that ended without a start teaches nothing.
func (b *Blend) Drop(j *workload.Job) {
	if r, ok := b.unsettled.Take(j.ID); ok {
		b.spare.Put(r)
	}
	b.keep(nil)
}

// learn takes in the outcome of a forecast: a wait in seconds.
func (b *Blend) learn(r *record, wait float64) {
	losses := make([]float64, len(b.experts))
	own := r.mixture.CRPS(wait)
	for i := range losses {
		losses[i] = own
		if o := &r.opinions[i]; o.answered {
			losses[i] = o.wait.CRPS(wait)
		}
	}
	b.weights.Learn(r.class, losses)
	b.recalibration.Learn(&r.mixture, &r.recalibrated, wait, b.rng.Float64())
}
