package api

import "github.com/varq-project/varq/predictor/workload"

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
	// Note is the latest remark for the user: that she has held the job, say, or why
	// the promise was missed.
	Note string `json:"note,omitempty"`
}
