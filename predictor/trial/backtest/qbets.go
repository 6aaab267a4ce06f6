package backtest

import (
	"math"

	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/forecast/qbets"
	"github.com/varq-project/varq/predictor/forecast/score"
	"github.com/varq-project/varq/predictor/workload"
)

// qbetsMethod predicts as qbets.Predictor does. It asks for each quantile and budget
// itself, without the grid of delays of package delay.
type qbetsMethod struct {
	*qbets.Predictor
	asked workload.Request
	now   int64
}

func newQBETS() *qbetsMethod { return &qbetsMethod{Predictor: qbets.New()} }

// Name implements [Method].
func (m *qbetsMethod) Name() string { return "qbets" }

// Predict implements [Method].
func (m *qbetsMethod) Predict(q *forecast.Question) (wait, lower score.Prediction) {
	m.asked, m.now = q.Request, q.Now
	if m.Bound(m.asked, m.now, .5).Sample == 0 {
		return nil, nil
	}
	return m, m
}

// Quantile implements [score.Prediction].
func (m *qbetsMethod) Quantile(q float64) float64 {
	b := m.Bound(m.asked, m.now, q)
	if !b.OK {
		return math.Inf(1)
	}
	return float64(b.Seconds)
}

// Within implements [score.Prediction].
func (m *qbetsMethod) Within(seconds float64) float64 {
	var e [1]workload.Estimate
	m.Forecast(m.asked, m.now, []workload.Candidate{{Limit: m.asked.Limit, Budget: int64(seconds)}}, e[:])
	return e[0].Prob
}

// Below implements [score.Prediction].
func (m *qbetsMethod) Below(seconds float64) float64 { return m.Within(math.Ceil(seconds) - 1) }
