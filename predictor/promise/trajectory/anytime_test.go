package trajectory

import (
	"testing"

	"github.com/varq-project/varq/predictor/workload"
)

// careful promises a third of what it forecasts, and less of longer waits than of shorter ones.
type careful struct{}

func (careful) Forecast(_ workload.Request, _ int64, c []workload.Candidate, est []workload.Estimate) {
	for i := range c {
		f := min(.9, float64(c[i].Budget)/(2*hour))
		est[i] = workload.Estimate{Prob: f / 3, Forecast: f, Bound: f / 2, Sample: 1000}
		if c[i].Budget > 4*hour {
			est[i].Prob /= 2
		}
	}
}

// The room bounds what is forecast also where it does not bound what can be promised. A later
// deadline has no lower probability, whatever is forecast and whatever the room is.
func TestAnyTime(t *testing.T) {
	rooms := map[string]func(workload.Claim, int64, float64) workload.Room{
		"no bound": nil,
		"half":     func(workload.Claim, int64, float64) workload.Room { return workload.Room{Prob: .5} },
		"gaps": func(c workload.Claim, _ int64, _ float64) workload.Room {
			if gap := (c.From - noon) / 1800 % 3; gap == 1 {
				return workload.Room{Prob: .1}
			}
			return workload.Room{Prob: .8}
		},
		"late": func(workload.Claim, int64, float64) workload.Room {
			return workload.Room{Prob: .8, Late: []workload.Hold{{At: noon + 2*hour, Prob: .2}}}
		},
	}
	for name, room := range rooms {
		p := Planner{Forecaster: careful{}, Room: room}
		prob, forecast := 0., 0.
		for deadline := int64(600); deadline < 8*hour; deadline += 600 {
			r := request(1, deadline, .01)
			r.HoldUntil = 0
			a := p.Decide(r)
			if a.Plan == nil {
				t.Fatalf("%s, within %d s: %+v", name, deadline, a.Refusal)
			}
			e := &a.Plan.Estimate
			if e.Prob < prob-.001 || e.Forecast < forecast-.001 || e.Prob > e.Forecast || name == "half" && e.Forecast > .5 {
				t.Errorf("%s, within %d s: %v and %v, before %v and %v", name, deadline, e.Prob, e.Forecast, prob, forecast)
			}
			prob, forecast = e.Prob, e.Forecast
		}
		if prob < .15 || forecast < .5 {
			t.Errorf("%s: %v and %v at best", name, prob, forecast)
		}
	}
}
