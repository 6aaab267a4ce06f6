// Package api defines the requests and answers of varqd, which are JSON over HTTP. Times are
// Unix seconds, durations are seconds, memory is MiB, probabilities are in (0,1).
package api

// The paths of the API.
const (
	PathPlan         = "/v1/plans"             // POST PlanRequest: PlanAnswer. A promise is in the ledger before the answer leaves.
	PathQuote        = "/v1/quotes"            // POST PlanRequest: PlanAnswer. Nothing is promised.
	PathBind         = "/v1/bindings"          // POST Binding
	PathCancel       = "/v1/cancellations"     // POST Cancellation
	PathAccept       = "/v1/acceptances"       // POST Acceptance: Accepted
	PathLimits       = "/v1/limits"            // GET: Limits of who asks
	PathReservations = "/v1/reservations"      // GET, with Param...: []Reservation
	PathReport       = "/v1/report"            // GET, with Param...: Report
	PathShadow       = "/v1/shadow"            // GET, with Param...: Shadow
	PathCalibration  = "/v1/calibration"       // GET, with Param...: Calibration
	PathNodes        = "/v1/nodes"             // GET: Nodes
	PathNodesScores  = "/v1/nodes/calibration" // GET, with Param...: NodesCalibration
	PathRisk         = "/v1/risk"              // GET, with ParamNodes: Risk
	PathVitals       = "/v1/vitals"            // POST Vitals
	PathPredict      = "/v1/predict"           // POST PredictRequest: Prediction
	PathHealth       = "/healthz"              // GET Health
	PathMetrics      = "/metrics"              // GET Prometheus text
	PathOpenAPI      = "/openapi.json"         // GET this API's own description
)

// Error is the body of every answer with an HTTP status of failure.
type Error struct {
	Error string `json:"error"`
}

// Version is the version of varq. The build sets it.
var Version = "devel"
