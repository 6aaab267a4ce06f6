// Package api is the language that varqd and its clients speak: JSON over HTTP.
// Times are Unix seconds, durations are seconds, memory is MiB, probabilities
// lie in (0,1).
package api

import "github.com/varq-project/varq/predictor/workload"

// The paths of the API. A path that ends in a slash takes an identifier.
const (
	PathPlan         = "/v1/plans"        // POST PlanRequest: a promise, in the ledger before the answer leaves
	PathQuote        = "/v1/quotes"       // POST PlanRequest: the same, with nothing promised
	PathBind         = "/v1/bindings"     // POST Binding
	PathReservations = "/v1/reservations" // GET, with Param...: []Reservation
	PathReport       = "/v1/report"       // GET, with Param...: Report
	PathPredict      = "/v1/predict"      // POST PredictRequest: Prediction
	PathHealth       = "/healthz"         // GET Health
	PathMetrics      = "/metrics"         // GET Prometheus text
	PathOpenAPI      = "/openapi.json"    // GET this API's own description
)

// The parameters of PathReservations and PathReport. Without ParamUser both
// answer for the asker's own reservations.
const (
	// ParamUser is a user, or "*" for everybody.
	ParamUser = "user"
	// ParamJob is a job id: its reservation alone, however old.
	ParamJob = "job"
	// ParamAll, if true, adds the reservations that were due more than a day ago
	// and are settled.
	ParamAll = "all"
	// ParamBy is what a report groups by; see Report.
	ParamBy = "by"
	// ParamStart and ParamEnd bound the deadlines, start <= begin-by < end.
	ParamStart = "start"
	ParamEnd   = "end"
)

// PlanRequest asks for a reservation. The user is never taken from here: it is
// whoever the connection or the credential proves to be asking.
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
	Sample int    `json:"sample"`
	Class  string `json:"class"`
}

// Cost of an allocation.
type Cost struct {
	NodeSeconds    float64 `json:"node_seconds"`
	BillingSeconds float64 `json:"billing_seconds"` // billing units x seconds
}

// Refusal says why no promise can be made, and what can be promised instead.
type Refusal struct {
	// Reason is one sentence for the user.
	Reason string `json:"reason"`
	// Limit names the limit that binds, if one does.
	Limit  string  `json:"limit,omitempty"`
	Offers []Offer `json:"offers,omitempty"`
}

// The kinds of offer.
const (
	OfferProb  = "probability" // the best probability for this deadline
	OfferLater = "deadline"    // the earliest deadline for this probability
	OfferNodes = "nodes"       // the same with fewer nodes
	OfferTime  = "time"        // the same with less time
)

// Offer is a request that could be promised, with the plan it would get.
type Offer struct {
	Kind string `json:"kind"`
	// Options are the sbatch options that ask for it, one line.
	Options string  `json:"options"`
	Prob    float64 `json:"prob"`
	BeginBy int64   `json:"begin_by"`
	Nodes   int32   `json:"nodes"`
	CPUs    int32   `json:"cpus"`
	Limit   int64   `json:"limit"`
	Worst   Cost    `json:"worst"`
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

// The states of a reservation.
const (
	StatePromised  = "PROMISED"  // planned, no job seen yet
	StatePending   = "PENDING"   // the job is in the queue
	StateHolding   = "HOLDING"   // running, the work waits for its time
	StateRunning   = "RUNNING"   // the work runs
	StateKept      = "KEPT"      // settled: it started in time
	StateMissed    = "MISSED"    // settled: it did not
	StateCancelled = "CANCELLED" // settled: cancelled before the deadline, or never submitted
)

// Reservation is one promise and what became of it.
type Reservation struct {
	Plan
	Job       int64  `json:"job,omitempty"`
	User      string `json:"user"`
	Account   string `json:"account"`
	Partition string `json:"partition"`
	QOS       string `json:"qos,omitempty"`
	workload.Size
	BestEffort bool   `json:"best_effort"`
	State      string `json:"state"`
	Promised   int64  `json:"promised_at"`
	// Now is the probability of starting by BeginBy as forecast at present.
	Now       float64 `json:"now"`
	Eligible  int64   `json:"eligible,omitempty"`
	Start     int64   `json:"start,omitempty"`
	WorkStart int64   `json:"work_start,omitempty"`
	End       int64   `json:"end,omitempty"`
	// Note tells what varq noticed: a hold or an update by the user, say.
	Note string `json:"note,omitempty"`
}

// Report compares what was promised with what was kept.
type Report struct {
	By   string      `json:"by"` // "user", "account", "partition", "month" or "" (one row)
	Rows []ReportRow `json:"rows"`
}

// ReportRow is one group of settled reservations.
type ReportRow struct {
	Group     string `json:"group"`
	Promises  int    `json:"promises"`
	Kept      int    `json:"kept"`
	Missed    int    `json:"missed"`
	Cancelled int    `json:"cancelled"`
	Open      int    `json:"open"`
	// Promised is the mean probability asked for, Estimated the mean forecast
	// and Delivered kept / (kept + missed), with its 95 % Clopper-Pearson
	// interval from Low to High; all over the kept and the missed.
	Promised  float64 `json:"promised"`
	Estimated float64 `json:"estimated"`
	Delivered float64 `json:"delivered"`
	Low       float64 `json:"low"`
	High      float64 `json:"high"`
	// Required node-seconds, which the work took; Used ones, for which the jobs
	// had their nodes; and Used / Required, as in the paper's Table 3. All over
	// the jobs that have ended, those cancelled while they held nodes too.
	Required float64 `json:"required_node_seconds"`
	Used     float64 `json:"used_node_seconds"`
	Ratio    float64 `json:"ratio"`
}

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

// Health is varqd's own state.
type Health struct {
	OK bool `json:"ok"`
	// Problems are sentences about what does not work, for people.
	Problems []string `json:"problems,omitempty"`
	// History is the number of past jobs learnt from, Newest the start of the
	// last.
	History int    `json:"history"`
	Newest  int64  `json:"newest"`
	Version string `json:"version"`
}

// Error is the body of every answer that is not a success.
type Error struct {
	Error string `json:"error"`
}

// Version is varq's own, set by the build.
var Version = "devel"
