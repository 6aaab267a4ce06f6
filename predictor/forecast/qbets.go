package forecast

import (
	"github.com/varq-project/varq/predictor/qbets"
)

// QBETS forecasts from the past waits of jobs of the same class, without a look at
// the present queue.
type QBETS struct{ *qbets.Predictor }

// Name returns "qbets".
func (QBETS) Name() string { return "qbets" }

// Forecast implements Forecaster.
func (f QBETS) Forecast(q *Question, a *Answer) bool {
	*a = Answer{}
	e, ok := f.Distribution(q.Request, q.Now, &a.Wait)
	a.Evidence = Evidence{Sample: float64(e.Sample), Class: e.Class, Changed: e.Changed, Down: e.Down}
	return ok
}
