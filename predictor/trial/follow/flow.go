package follow

import (
	"github.com/varq-project/varq/predictor/delay"
	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/forecast/completion"
	"github.com/varq-project/varq/predictor/forecast/flow"
	"github.com/varq-project/varq/predictor/workload"
)

// Flows forecasts jobs of flows by forecasts of waits and of run times.
type Flows struct {
	Waits forecast.Forecaster
	Ends  *completion.Forecaster
}

// Job returns a job of a flow that is submitted now and waits for those at some places to end. It
// reports false if nothing is known of it.
func (f Flows) Job(id int64, r workload.Request, now int64, after []int) (j flow.Job, ok bool) {
	var a forecast.Answer
	wait := func(at int64) bool {
		return f.Waits.Forecast(&forecast.Question{Request: r, Now: now, Submit: at}, &a)
	}
	if !wait(now) {
		return j, false
	}
	j = flow.Job{ID: id, Earliest: now, Success: 1}
	for _, place := range after {
		j.Conditions = append(j.Conditions, flow.Condition{Event: flow.Ended, Job: place})
	}
	j.Wait = func(at int64) delay.Distribution {
		wait(at)
		return a.Wait
	}
	j.Run = f.Ends.Run(&forecast.Question{Request: r, Now: now, Submit: now}, 0, completion.Circumstances{})
	return j, true
}
