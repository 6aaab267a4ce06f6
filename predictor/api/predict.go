package api

import (
	"fmt"

	"github.com/varq-project/varq/predictor/workload"
)

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
	// OffersUntil is until when room is kept for what was offered to others, Unix seconds; 0 if none
	// is. After that more may be promised.
	OffersUntil int64 `json:"offers_until,omitempty"`
	// Crowded says that less can be promised than is forecast because of the room that promises made
	// before, or offers to others, keep.
	Crowded bool `json:"crowded,omitempty"`
	// Careful says why less can be promised than is forecast although there is room: a sentence
	// without a full stop, or "".
	Careful string `json:"careful,omitempty"`
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
// quantile. Seconds is the wait within which a start can be promised with it.
// Either is nil if too little is known, and Seconds is where there is no varqd.
type Bound struct {
	Quantile   float64  `json:"quantile"`
	Expected   *float64 `json:"expected"`   // seconds
	Seconds    *float64 `json:"seconds"`    // seconds
	Confidence float64  `json:"confidence"` // of the lower bounds on which promises rest
}

// maxQuantiles is how many quantiles a request can have.
const maxQuantiles = 64

// Check returns what is wrong with the question by itself: Mistakes, or nil.
func (r *PredictRequest) Check() error {
	var c checker
	c.work(&r.Job, r.Needs, nil)
	c.wrong(r.Forecaster != "" && r.Forecaster != ForecasterDowney, "forecaster", "%.40q is not %s", r.Forecaster, ForecasterDowney)
	c.wrong(len(r.Quantiles) > maxQuantiles, "quantiles", "%d are more than %d", len(r.Quantiles), maxQuantiles)
	for i, q := range r.Quantiles {
		c.wrong(!inside(q), Field(fmt.Sprintf("quantiles[%d]", i)), "%v is not between 0 and 1", q)
	}
	return c.err()
}
