package trajectory

import (
	"testing"

	"github.com/varq-project/varq/predictor/workload"
)

// adjusted is a Forecaster that changes what another one says of several candidates.
type adjusted struct {
	curve
	change func(est []workload.Estimate)
}

func (a adjusted) Forecast(r workload.Request, now int64, c []workload.Candidate, est []workload.Estimate) {
	a.curve.Forecast(r, now, c, est)
	a.change(est)
}

// rough is a Forecaster that tells too much between every 20th of several candidates, as one that
// interpolates may.
func rough(c curve, excess float64) adjusted {
	return adjusted{c, func(est []workload.Estimate) {
		for i := range est {
			if i%20 != 0 && i < len(est)-1 {
				est[i].Prob = min(1, est[i].Prob+excess)
			}
		}
	}}
}

// TestPromiseRestsOnItsOwnForecast: who looks at a promise just made, and so forecasts its
// submission alone, finds the forecast with which it was made, and moves nothing.
func TestPromiseRestsOnItsOwnForecast(t *testing.T) {
	for _, prob := range []float64{.3, .5, .8, .95} {
		p := &Planner{Forecaster: rough(curve{mean: hour, sample: 1000}, .05), Cluster: site(nil)}
		r := request(2, 4*hour, prob)
		a := p.Plan(r)
		if a.Plan == nil {
			t.Fatalf("%v: %+v", prob, a.Refusal)
		}
		r.Job, r.Earliest = a.Job, a.Plan.Begin
		made := Submission{Begin: a.Plan.Begin, Limit: a.Plan.Limit}
		if got := p.Replan(r, made); got.Submission != made || got.Stay != a.Plan.Estimate.Prob || got.Stay < prob {
			t.Errorf("promised %v by a forecast of %v: %+v", prob, a.Plan.Estimate.Prob, got)
		}
	}
}

// TestMoveRestsOnItsOwnForecast: a promise that does not hold is moved to where it does when that
// submission is forecast alone, and to the best there is if it does nowhere.
func TestMoveRestsOnItsOwnForecast(t *testing.T) {
	for _, mean := range []float64{1.5 * hour, 10 * hour} {
		p := &Planner{Forecaster: rough(curve{mean: mean, sample: 1000}, .05), Cluster: site(nil)}
		r := request(2, 4*hour, .9)
		got := p.Replan(r, Submission{Begin: r.Deadline - 8310, Limit: r.enlarged(r.Deadline - 8310)})
		b := p.bounds(&r)
		if alone := p.pending(&r, b, got.Submission).Prob; got.Prob != alone || got.Prob <= got.Stay || got.Prob < .9 && got.Begin != r.Now {
			t.Errorf("mean wait %v: %+v, alone %v", mean, got, alone)
		}
	}
}
