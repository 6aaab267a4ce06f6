package expert

import (
	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/forecast/qbets"
	"github.com/varq-project/varq/predictor/workload"
)

// QBETS forecasts from the past waits of jobs of the same class. Of the present queue it
// knows only how long the jobs of that class have waited. It answers a question whose Now
// lies in the past with what it knows now.
type QBETS struct {
	*qbets.Predictor
	newest int64 // the time of the last event
}

// Name returns "qbets".
func (*QBETS) Name() string { return "qbets" }

// Forecast implements forecast.Forecaster.
func (f *QBETS) Forecast(q *forecast.Question, a *forecast.Answer) bool {
	*a = forecast.Answer{}
	e, ok := f.Distribution(q.Request, max(q.Now, f.newest), &a.Wait)
	a.Evidence = forecast.Evidence{Sample: float64(e.Sample), Class: e.Class, Changed: e.Changed, Down: e.Down}
	return ok
}

// Submitted implements forecast.Observer.
func (f *QBETS) Submitted(j *workload.Job) {
	f.newest = max(f.newest, j.Since())
	f.Predictor.Submitted(j)
}

// Started implements forecast.Observer.
func (f *QBETS) Started(j *workload.Job) {
	f.newest = max(f.newest, j.Start)
	f.Predictor.Started(j)
}

// Ended implements forecast.Observer.
func (f *QBETS) Ended(j *workload.Job) {
	f.newest = max(f.newest, j.End)
	f.Predictor.Ended(j)
}
