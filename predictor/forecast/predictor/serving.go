package predictor

import (
	"github.com/varq-project/varq/predictor/cluster/rollout"
	"github.com/varq-project/varq/predictor/delay"
	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/forecast/expert"
	"github.com/varq-project/varq/predictor/workload"
)

// Experts and blends measure a wait in the seconds in which the pool serves: those in which Slurm's
// reservations close it do not count, and those in which they leave half of it count half. What was
// learnt of waits then holds beside a maintenance, too. Whoever would have started an hour after
// its beginning, starts an hour after its end, behind all that could not start before, and the
// simulations know how much that is. And who has waited through a maintenance teaches nobody that
// waits are so long. The Predictor turns such waits into those by the clock, and back.

// behind bounds an answer to q, about a job to be submitted later, by that about a job that is
// submitted then behind all that waits now, where the present state of the queue says much about
// that job: after the beginning of a window that closes the pool, since what waits for its end
// waits for as long as it does without one, and where more work will be ahead than was ever learnt
// from. The simulations of the blend for jobs submitted now tell of it. To ask these costs more
// than all else, and is left where the answer is next to nothing for a day already.
func (p *Predictor) behind(q *forecast.Question, a *forecast.Answer) {
	const nothing = .005
	if a.Wait.Within(86_400) < nothing || a.Beyond == 0 && len(p.forest.Windows(q.Place()).Closing().Since(q.Now).Before(q.Submit)) == 0 {
		return
	}
	var present forecast.Answer
	if !p.present.Forecast(q, &present) {
		return
	}
	a.Beyond = max(a.Beyond, present.Beyond)
	for i := range delay.Points {
		a.Wait[i], a.Lower[i] = min(a.Wait[i], present.Wait[i]), min(a.Lower[i], present.Lower[i])
	}
}

// clocked answers with the waits of a forecaster by the clock.
type clocked struct {
	forecast.Forecaster
	forest *expert.Forest // which knows the windows
}

// Forecast implements forecast.Forecaster.
func (c clocked) Forecast(q *forecast.Question, a *forecast.Answer) bool {
	ok := c.Forecaster.Forecast(q, a)
	byClock(a, c.forest.Windows(q.Place()), q)
	return ok
}

// byClock turns the waits of an answer to q, in seconds in which the pool serves, into waits by the
// clock.
func byClock(a *forecast.Answer, w rollout.Windows, q *forecast.Question) {
	if w = w.For(q.Limit).Since(q.Submit); len(w) == 0 {
		return
	}
	serving := *a
	for i := range delay.Points {
		wait := int64(delay.At(i))
		if closed := w.Closed(q.Submit, q.Submit+wait); closed > 0 {
			a.Wait[i] = serving.Wait.Within(float64(wait - closed))
			a.Lower[i] = serving.Lower.Within(float64(wait - closed))
		}
	}
}

// served returns a job that has started as one that began to wait later, by as many seconds as it
// could not start in since.
func served(j *workload.Job, w rollout.Windows) *workload.Job {
	since := j.Since()
	closed := w.For(j.Limit).Closed(since, j.Start)
	if closed == 0 {
		return j
	}
	later := *j
	later.Eligible = since + closed
	return &later
}
