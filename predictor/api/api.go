// Package api is the language that varqd and its clients speak: JSON over HTTP.
// Times are Unix seconds, durations are seconds, memory is MiB, probabilities
// lie in (0,1).
package api

// The paths of the API.
const (
	PathPlan         = "/v1/plans"        // POST PlanRequest: a promise, in the ledger before the answer leaves
	PathQuote        = "/v1/quotes"       // POST PlanRequest: the same, with nothing promised
	PathBind         = "/v1/bindings"     // POST Binding
	PathReservations = "/v1/reservations" // GET, with Param...: []Reservation
	PathReport       = "/v1/report"       // GET, with Param...: Report
	PathCalibration  = "/v1/calibration"  // GET, with Param...: Calibration
	PathPredict      = "/v1/predict"      // POST PredictRequest: Prediction
	PathHealth       = "/healthz"         // GET Health
	PathMetrics      = "/metrics"         // GET Prometheus text
	PathOpenAPI      = "/openapi.json"    // GET this API's own description
)

// Error is the body of every answer that is not a success.
type Error struct {
	Error string `json:"error"`
}

// Version is varq's own, set by the build.
var Version = "devel"
