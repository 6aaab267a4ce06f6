package trajectory

import "github.com/varq-project/varq/predictor/workload"

// settle is choose, but of points that were forecast by themselves. A Forecaster may interpolate
// along a trajectory. Whoever takes the latest point with a probability would then take one for
// which interpolation tells too much, and the next look, which forecasts that submission alone,
// would find the promise endangered.
//
// It replaces the forecasts of the points that it asks about.
func (p *Planner) settle(r *Request, points []Point, prob float64) int {
	for {
		i := r.choose(points, prob)
		if i < 0 || points[i].alone {
			return i
		}
		p.alone(r, &points[i])
	}
}

// alone forecasts a point by itself. What room there is for it stays as it is.
func (p *Planner) alone(r *Request, pt *Point) {
	taken := pt.Taken
	pt.Estimate = p.forecast(r, workload.Candidate{Submit: pt.Begin, Limit: pt.Limit, Budget: pt.until - pt.Begin, Job: r.ID})
	pt.free = pt.Estimate
	pt.Prob, pt.Taken, pt.alone = min(pt.Prob, 1-taken), taken, true
	pt.Forecast = max(min(pt.Forecast, 1-taken), pt.otherwise)
}
