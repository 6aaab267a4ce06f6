package api

import "github.com/varq-project/varq/predictor/workload"

// PredictRequest asks how long a job would wait if it were submitted now.
type PredictRequest struct {
	Job workload.Request `json:"job"`
	// Needs say on which nodes the job may run; nil if on any.
	Needs     *workload.Needs `json:"needs,omitempty"`
	Quantiles []float64       `json:"quantiles,omitempty"` // by default .5 .75 .9 .95
	// Forecaster is ForecasterDowney, or empty for varqd's own forecast.
	Forecaster string `json:"forecaster,omitempty"`
}

// ForecasterDowney forecasts by Downey's predictors, with their bias corrected. Nothing is promised
// by it, so that there are no upper bounds.
const ForecasterDowney = "downey"

// Prediction is the answer to a PredictRequest, with one bound for each quantile.
type Prediction struct {
	Job    workload.Request `json:"job"`
	Bounds []Bound          `json:"bounds"`
	// Waiting and Running are how many jobs wait and run now.
	Waiting int `json:"waiting"`
	Running int `json:"running"`
	// Blocked is the next window in which no such job can run, if there is one, and the job may
	// not have ended before.
	Blocked *Blocked `json:"blocked,omitempty"`
	// Short says that too few nodes can start jobs now for such a job, and why the others cannot: a
	// sentence without a full stop, or "". The wait is then one for nodes, so that Beyond and Taken
	// are 0.
	Short string `json:"short,omitempty"`
	// Asleep says that nodes may have to be powered up for such a job, and how long that takes,
	// which is a part of the wait: a sentence without a full stop, or "".
	Asleep string `json:"asleep,omitempty"`
	Evidence
}

// Blocked is a time in which Slurm's own reservations leave too few nodes for a job. Slurm starts
// no job that would run into it.
type Blocked struct {
	Why   string `json:"why"` // a sentence without a full stop
	Start int64  `json:"start"`
	End   int64  `json:"end"`
}

// Bound is a forecast of one quantile of the wait. Expected is the best estimate of the
// quantile. Seconds is an upper confidence bound on the quantile, on which promises rest.
// Either is nil if too little is known.
type Bound struct {
	Quantile   float64  `json:"quantile"`
	Expected   *float64 `json:"expected"`   // seconds
	Seconds    *float64 `json:"seconds"`    // seconds
	Confidence float64  `json:"confidence"` // the level of the bound Seconds
}
