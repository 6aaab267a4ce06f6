package api

import (
	"fmt"

	"github.com/varq-project/varq/predictor/workload"
)

// PlanRequest asks for a reservation. Its user is not taken from here: the
// connection or the credential proves who asks.
type PlanRequest struct {
	// Job is what the work itself needs; Limit is the time limit of the work,
	// without any time spent waiting. Empty fields take Slurm's defaults.
	Job workload.Request `json:"job"`
	// BeginBy is the deadline: the time at which the work must be running.
	BeginBy int64 `json:"begin_by"`
	// Prob is the success probability asked for; 0 takes the site's default.
	Prob float64 `json:"prob,omitempty"`
	// BeginAfter, if not 0, lets the work start from then on and not only at
	// BeginBy (the window mode).
	BeginAfter int64 `json:"begin_after,omitempty"`
	// BestEffort lets the work start as soon as the job does.
	BestEffort bool `json:"best_effort,omitempty"`
	// OnMiss says what becomes of a job not started by BeginBy: OnMissRun (the
	// default) or OnMissCancel.
	OnMiss string `json:"on_miss,omitempty"`
	// Trajectory asks for the whole probability trajectory in the answer.
	Trajectory bool `json:"trajectory,omitempty"`
}

// What becomes of a job that has not started by its deadline: it runs later all
// the same, or not at all.
const (
	OnMissRun    = "run"
	OnMissCancel = "cancel"
)

// PlanAnswer is a plan or a refusal: exactly one of the two is set.
type PlanAnswer struct {
	Plan       *Plan    `json:"plan,omitempty"`
	Refusal    *Refusal `json:"refusal,omitempty"`
	Trajectory []Point  `json:"trajectory,omitempty"`
}

// Plan says how to submit the job so that the promise holds.
type Plan struct {
	// ID names the promise in the ledger; empty in a quote.
	ID string `json:"id,omitempty"`
	// BeginTime is when the job is to become eligible (sbatch --begin).
	BeginTime int64 `json:"begin_time"`
	// TimeLimit is the enlarged time limit: the work's own and, where the work
	// may not start before HoldUntil, the time from BeginTime until then. It is a
	// whole number of minutes.
	TimeLimit int64 `json:"time_limit"`
	// BeginBy is the deadline, and HoldUntil when the work may start: BeginBy
	// (strict), BeginAfter (window) or 0 (best effort).
	BeginBy   int64 `json:"begin_by"`
	HoldUntil int64 `json:"hold_until"`
	// WorkLimit is the time limit of the work itself.
	WorkLimit int64 `json:"work_limit"`
	// Prob is the probability asked for, Estimate the one forecast (>= Prob).
	Prob     float64 `json:"prob"`
	Estimate float64 `json:"estimate"`
	OnMiss   string  `json:"on_miss"`
	// Work is what the work costs, Worst and Expected what the reservation may
	// cost on top of it.
	Work     Cost `json:"work"`
	Worst    Cost `json:"worst"`
	Expected Cost `json:"expected"`
	Evidence
	// Comment is what goes into the job's comment, so that the promise can be
	// found from the queue alone.
	Comment string `json:"comment"`
}

// Evidence is what a forecast rests on.
type Evidence struct {
	// Sample is how many past waits count, each forecaster's by its share.
	Sample int `json:"sample"`
	// Class names the class of jobs whose past waits were used, if there are classes.
	Class string `json:"class"`
	// Changed is when the waits of that class last changed, or 0.
	Changed int64 `json:"changed,omitempty"`
	// Down says why nothing can be promised now, as during an outage: a sentence
	// without a full stop.
	Down string `json:"down,omitempty"`
	// Calibrated is the number of recent forecasts, of known outcome, that the
	// forecast was recalibrated by.
	Calibrated float64 `json:"calibrated,omitempty"`
	// Members are the forecasters that the forecast is a mixture of.
	Members []Member `json:"members,omitempty"`
}

// Member is the part that one forecaster has in a forecast.
type Member struct {
	Forecaster string  `json:"forecaster"`
	Share      float64 `json:"share"` // its mixture weight, from 0 to 1
	Sample     int     `json:"sample"`
	Class      string  `json:"class,omitempty"`
	Changed    int64   `json:"changed,omitempty"`
	// Simulated names the scheduling that the queue was simulated with, if it was.
	Simulated string `json:"simulated,omitempty"`
}

// Cost of an allocation.
type Cost struct {
	NodeSeconds    float64 `json:"node_seconds"`
	BillingSeconds float64 `json:"billing_seconds"` // billing units x seconds
}

// String shows the cost in both currencies, in hours.
func (c Cost) String() string {
	return fmt.Sprintf("%.2f node-hours, %.2f billing-hours", c.NodeSeconds/3600, c.BillingSeconds/3600)
}

// Refusal says why no promise can be made, and what can be promised instead.
type Refusal struct {
	// Reason is one sentence for the user.
	Reason string `json:"reason"`
	// Limit names the limit that binds, if one does.
	Limit  string  `json:"limit,omitempty"`
	Offers []Offer `json:"offers,omitempty"`
}

// Point is one step of a probability trajectory.
type Point struct {
	BeginTime int64   `json:"begin_time"`
	TimeLimit int64   `json:"time_limit"`
	Prob      float64 `json:"prob"`
	Class     string  `json:"class"`
}

// Binding tells varqd which job a plan became. Only the plan's user may bind
// it, only once, and only to a job of that user.
type Binding struct {
	Plan string `json:"plan"`
	Job  int64  `json:"job"`
}
