package backtest

import (
	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/forecast/predictor"
	"github.com/varq-project/varq/predictor/forecast/score"
	"github.com/varq-project/varq/predictor/workload"
)

const day = 24 * 3600

// noons yields a time of day, in seconds after midnight (UTC), of each day between two times.
func noons(of, after, until int64) func(yield func(int64) bool) {
	return func(yield func(int64) bool) {
		for at := after - ((after-of)%day+day)%day + day; at <= until; at += day {
			if !yield(at) {
				return
			}
		}
	}
}

// askPending asks about the jobs that wait at a time, how much longer each waits: those that start.
func (r *runner) askPending(at int64) {
	if r.asked <= r.warmup {
		return
	}
	for j := range r.queue.Pending() {
		if of := r.jobs[j.ID]; of.Start > at && j.Since() > 0 {
			q := forecast.Question{Request: j.Request, Now: at, Submit: at, Job: j.ID, Since: j.Since()}
			r.score(of.Job, &q, float64(of.Start-at), of.place)
		}
	}
}

// known is a job of the queue, with what becomes of it, and its place in a burst.
type known struct {
	*workload.Job
	place int
}

// conditioned is a distribution of waits of jobs that have waited for some seconds: of the rest of
// their waits.
//
// Where no wait is known that was longer, nothing is known but the age, and the rest is at most so
// many seconds with probability seconds/(seconds+age) (Gott 1993).
type conditioned struct {
	score.Prediction
	age float64
}

// given returns the forecast of the rest of a wait that has lasted for an age, in seconds.
func given(p score.Prediction, age int64) score.Prediction {
	if p == nil || age <= 0 {
		return p
	}
	return conditioned{p, float64(age)}
}

// longer returns the probability of a wait that is longer than the age.
func (c conditioned) longer() float64 { return 1 - c.Prediction.Within(c.age) }

// Quantile implements [score.Prediction].
func (c conditioned) Quantile(q float64) float64 {
	longer := c.longer()
	if !(longer > 0) {
		return c.age * q / (1 - q)
	}
	return max(0, c.Prediction.Quantile(1-(1-q)*longer)-c.age)
}

// Within implements [score.Prediction].
func (c conditioned) Within(seconds float64) float64 {
	return c.rest(seconds, c.Prediction.Within(c.age+seconds))
}

// Below implements [score.Prediction].
func (c conditioned) Below(seconds float64) float64 {
	return c.rest(seconds, c.Prediction.Below(c.age+seconds))
}

// rest returns the probability of a rest of so many seconds, given that of the whole wait.
func (c conditioned) rest(seconds, whole float64) float64 {
	longer := c.longer()
	if seconds < 0 {
		return 0
	}
	if !(longer > 0) {
		return seconds / (seconds + c.age)
	}
	return max(0, 1-(1-whole)/longer)
}

// Pendings has the methods of forecasting the rest of a wait. All but the first know waits since
// the submission, of which they take those that were longer. The baselines come last.
var Pendings = pendings()

func pendings() (makers []Maker) {
	makers = append(makers, Maker{Name: "pending", Cost: 2 * blendCost, New: func(c Cluster) Method {
		return rests{Of(predictor.Standard(c.Queue, predictor.Options{Background: c.Background}, chance()))}
	}})
	for _, m := range Methods {
		if m.Baseline || m.Name == "blend" {
			asked := m.New
			m.New = func(c Cluster) Method { return ages{asked(c)} }
			makers = append(makers, m)
		}
	}
	return makers
}

// rests is varqd's Method, which knows how long each job has waited.
type rests struct{ Method }

// Name implements [Method].
func (rests) Name() string { return "pending" }

// ages is a Method that knows only waits since the submission.
type ages struct{ Method }

// Predict implements [Method].
func (m ages) Predict(q *forecast.Question) (wait, lower score.Prediction) {
	wait, _ = m.Method.Predict(q)
	return given(wait, q.Now-q.Since), nil
}
