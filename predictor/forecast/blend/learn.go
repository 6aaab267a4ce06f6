package blend

import (
	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/workload"
)

// Submitted implements forecast.Observer: it calls Expect with the question at submission, and
// passes the event on to the experts. A caller of Expect, Score or Drop tells the experts itself.
func (b *Blend) Submitted(j *workload.Job) {
	b.Expect(j, forecast.AtSubmission(j))
	b.experts.Submitted(j)
}

// Started implements forecast.Observer: it calls Score, and passes the event on to the experts.
func (b *Blend) Started(j *workload.Job) {
	b.Score(j)
	b.experts.Started(j)
}

// Ended implements forecast.Observer: it calls Drop, and passes the event on to the experts.
func (b *Blend) Ended(j *workload.Job) {
	b.Drop(j)
	b.experts.Ended(j)
}

// Expect forecasts the answer to q, a question about a job that begins to wait, and
// stores the forecast until the job starts or ends.
func (b *Blend) Expect(j *workload.Job, q forecast.Question) {
	if b.unscored.Wants(j.ID) {
		if r := b.latest.Load(); r == nil || r.question != q {
			b.Forecast(&q, &b.discard)
		}
		b.unscored.Put(j.ID, b.latest.Swap(nil))
	}
	b.setLatest(nil)
}

// Score scores the forecast stored for a job that has now started, and learns from it.
func (b *Blend) Score(j *workload.Job) {
	if r, ok := b.unscored.Take(j.ID); ok {
		if wait, ok := j.Wait(); ok && r.answered {
			b.learn(r, float64(wait))
		}
		b.spare.Put(r)
	}
	b.setLatest(nil)
}

// Drop forgets the forecast stored for a job that has ended. A job that never started
// teaches nothing.
func (b *Blend) Drop(j *workload.Job) {
	if r, ok := b.unscored.Take(j.ID); ok {
		b.spare.Put(r)
	}
	b.setLatest(nil)
}

// learn learns from a forecast whose outcome, a wait in seconds, is known.
func (b *Blend) learn(r *record, wait float64) {
	losses := make([]float64, len(b.experts))
	mixtureLoss := r.mixture.CRPS(wait)
	for i := range losses {
		losses[i] = mixtureLoss
		if o := &r.opinions[i]; o.answered {
			losses[i] = o.wait.CRPS(wait)
		}
	}
	weight := b.influence.Weigh(r.question.User)
	b.weights.Learn(r.group, losses, weight)
	b.choice.learn(r.question.User, weight, &r.mixture, &r.recalibrated.Wait, wait)
	b.recalibration.Learn(r.question.User, weight, &r.mixture, &r.recalibrated, wait, b.rng.Float64())
}
