package expert

import (
	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/forecast/qbets"
	"github.com/varq-project/varq/predictor/workload"
)

// QBETS forecasts from the past waits of jobs of the same class, without a look at
// the present queue. Of a question whose Now has passed it tells what it says now.
type QBETS struct {
	*qbets.Predictor
	told int64 // the time of the last event
}

// Name returns "qbets".
func (*QBETS) Name() string { return "qbets" }

// Forecast implements forecast.Forecaster.
func (f *QBETS) Forecast(q *forecast.Question, a *forecast.Answer) bool {
	*a = forecast.Answer{}
	e, ok := f.Distribution(q.Request, max(q.Now, f.told), &a.Wait)
	a.Evidence = forecast.Evidence{Sample: float64(e.Sample), Class: e.Class, Changed: e.Changed, Down: e.Down}
	return ok
}

// Submitted implements forecast.Observer.
func (f *QBETS) Submitted(j *workload.Job) {
	f.told = max(f.told, j.Since())
	f.Predictor.Submitted(j)
}

// Started implements forecast.Observer.
func (f *QBETS) Started(j *workload.Job) {
	f.told = max(f.told, j.Start)
	f.Predictor.Started(j)
}

// Ended implements forecast.Observer.
func (f *QBETS) Ended(j *workload.Job) {
	f.told = max(f.told, j.End)
	f.Predictor.Ended(j)
}
