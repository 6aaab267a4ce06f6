package api

// Acceptance is the user's consent to a higher ceiling on the cost of idle nodes, with which
// varqd can keep an endangered promise; see Rescue.
type Acceptance struct {
	Job int64 `json:"job"`
	// Worst is the most that the user consents to. If Worst.NodeSeconds is 0, she consents to
	// whatever is needed now.
	Worst Cost `json:"worst"`
}

// Rescue is what would keep a promise that does not hold any more: nodes that idle for longer
// than the user has agreed to.
type Rescue struct {
	Prob  float64 `json:"prob"`  // the forecast with it
	Worst Cost    `json:"worst"` // of the idle nodes, at most
}
