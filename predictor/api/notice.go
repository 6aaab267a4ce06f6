package api

// The events of a Notice.
const (
	// it is less likely to be kept than it was made, by more than forecasts are exact to
	NoticeEndangered = "endangered"
	NoticeSafe       = "safe"    // it is no longer endangered
	NoticeSettled    = "settled" // State says how
)

// Notice tells of one event of a promise. varqd gives it in JSON to the program that the site has
// named.
type Notice struct {
	Event string `json:"event"`
	User  string `json:"user"`
	Job   int64  `json:"job,omitempty"`
	Name  string `json:"name,omitempty"` // of the job
	Plan  string `json:"plan"`
	State string `json:"state"`
	// BeginBy or FinishBy is the deadline; the other is 0.
	BeginBy  int64 `json:"begin_by,omitempty"`
	FinishBy int64 `json:"finish_by,omitempty"`
	// Prob is the probability promised, and Now the present forecast, of a promise that is not
	// settled.
	Prob float64 `json:"prob"`
	Now  float64 `json:"now,omitempty"`
	// Later is by when the job ends with the probability Prob, as in a Reservation.
	Later int64 `json:"later,omitempty"`
	// Text says it to the user, in one sentence without a full stop.
	Text string `json:"text"`
}
