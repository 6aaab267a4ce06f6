// Package api defines the requests and answers of varqd, which are JSON over HTTP. Times are
// Unix seconds, durations are seconds, memory is MiB, probabilities are in (0,1).
package api

// The paths of the API.
const (
	// POST PlanRequest: PlanAnswer. A promise is in the ledger before the answer leaves.
	PathPlan = "/v1/plans"
	// POST PlanRequest: PlanAnswer. Nothing is promised.
	PathQuote = "/v1/quotes"
	// GET: a list of SiteState, of clusters without varqd
	PathSites = "/v1/sites"
	// POST ProbeRequest: ProbeAnswer. Nothing is promised.
	PathProbe   = "/v1/probes"
	PathSize    = "/v1/sizes"         // POST SizeRequest: SizeAnswer
	PathBind    = "/v1/bindings"      // POST Binding
	PathCancel  = "/v1/cancellations" // POST Cancellation
	PathConfirm = "/v1/confirmations" // POST Confirmation
	// POST GroupRequest: GroupQuote. The group is on disk before the answer leaves.
	PathGroups = "/v1/groups"
	// POST GroupRequest: GroupQuote. Nothing is written down.
	PathGroupQuote  = "/v1/groups/quotes"
	PathGroupCancel = "/v1/groups/cancellations" // POST GroupCancellation
	// POST GroupClaim: GateAnswer. What is decided is on disk before the answer leaves.
	PathClaim        = "/v1/groups/claims"
	PathGroupStates  = "/v1/groups/states"     // POST GroupsQuery: []GroupState
	PathDelays       = "/v1/delays"            // GET: Delays
	PathGate         = "/v1/gates"             // POST Gate: GateAnswer
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
	PathWhen         = "/v1/when"              // POST WhenQuery: When
	PathPredict      = "/v1/predict"           // POST PredictRequest: Prediction
	// POST FlowRequest: FlowAnswer. A promise is on disk before the answer leaves.
	PathFlows      = "/v1/flows"
	PathFlowStates = "/v1/flows/states" // POST FlowsQuery: Flows
	// followed by SITE and one of the other paths: the same at another site, to which it is relayed
	PathRelay   = "/v1/sites/"
	PathHealth  = "/healthz"      // GET Health
	PathMetrics = "/metrics"      // GET Prometheus text
	PathOpenAPI = "/openapi.json" // GET this API's own description
)

// ForUser is the header by which another site's varqd, which is known by its certificate, says for
// which user it asks. Without it, it asks for itself.
const ForUser = "Varq-User"

// Within is the header that says for how many milliseconds whoever asks waits for the answer, so
// that a varqd that relays the request to another site can still tell who has not answered.
const Within = "Varq-Within"

// APIs is the header of each answer with the versions of the API that varqd speaks, as in the
// paths, with commas between them: "v1". ServerVersion is that with the version of varqd. Neither
// is part of what a credential proves: they help to word an error.
const (
	APIs          = "Varq-Apis"
	ServerVersion = "Varq-Version"
)

// API is the version of the API that this varq speaks. Under this version nothing is taken away or
// gets another meaning. Requests, answers and parameters may get new fields, of which whoever
// leaves them out gets what was there before.
const API = "v1"

// Error is the body of every answer with an HTTP status of failure.
type Error struct {
	Error string `json:"error"`
}

// Version is the version of varq. The build sets it.
var Version = "devel"
