package forecast

import "github.com/varq-project/varq/predictor/workload"

// Trajectory forecasts the submissions of a probability trajectory by what a Blend
// would promise of each. It implements trajectory.Forecaster.
type Trajectory struct{ *Blend }

// Forecast implements trajectory.Forecaster.
func (t Trajectory) Forecast(r workload.Request, now int64, c []workload.Candidate, est []workload.Estimate) {
	q := Question{Request: r, Now: now}
	var a Answer
	for i := range c {
		q.Submit, q.Limit = c[i].Submit, c[i].Limit
		est[i] = workload.Estimate{}
		ok := t.Blend.Forecast(&q, &a)
		est[i].Sample, est[i].Class, est[i].Down = int(a.Sample), a.Class, a.Down
		if ok {
			budget := float64(c[i].Budget)
			est[i].Prob, est[i].Held = a.Lower.Within(budget), a.Wait.Held(budget)
		}
	}
}
