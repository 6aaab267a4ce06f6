package api

import "github.com/varq-project/varq/predictor/workload"

// PredictRequest asks how long a job would wait if it were submitted now.
type PredictRequest struct {
	Job       workload.Request `json:"job"`
	Quantiles []float64        `json:"quantiles,omitempty"` // default .5 .75 .9 .95
}

// Prediction is the answer: one bound for each quantile.
type Prediction struct {
	Job    workload.Request `json:"job"`
	Bounds []Bound          `json:"bounds"`
	// Waiting and Running are how many jobs wait and run now.
	Waiting int `json:"waiting"`
	Running int `json:"running"`
	Evidence
}

// Bound is a quantile of the wait: as it is expected to be, and an upper confidence
// bound on it, which promises rest on. Either is nil when too little is known.
type Bound struct {
	Quantile   float64  `json:"quantile"`
	Expected   *float64 `json:"expected"` // seconds
	Seconds    *float64 `json:"seconds"`  // the bound
	Confidence float64  `json:"confidence"`
}
