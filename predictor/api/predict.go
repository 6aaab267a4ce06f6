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
	Evidence
}

// Bound is an upper confidence bound on a quantile of the wait. Seconds is nil
// when too few waits are known for a bound.
type Bound struct {
	Quantile   float64  `json:"quantile"`
	Seconds    *float64 `json:"seconds"`
	Confidence float64  `json:"confidence"` // the one really achieved
}
