package api

// Acceptance is the user's consent to a higher ceiling on the cost of idle nodes, with which
// varqd can keep an endangered promise; see Rescue.
type Acceptance struct {
	Job int64 `json:"job"`
	// Worst is the most that the user consents to. If Worst.NodeSeconds is 0, she consents to
	// whatever is needed now.
	Worst Cost `json:"worst"`
}

// Accepted is what became of an Acceptance.
type Accepted struct {
	Reservation // as it is now
	// Moved is true if varqd has changed the job: it is as Set says.
	Moved bool `json:"moved"`
	// Unmoved tells the user why the job is not moved, and when it will be; empty if it is.
	Unmoved string `json:"unmoved,omitempty"`
}

// Rescue is what would keep a promise that does not hold any more: nodes that idle for longer
// than the user has agreed to.
type Rescue struct {
	Prob  float64 `json:"prob"`  // the forecast with it
	Worst Cost    `json:"worst"` // of the idle nodes, at most
}

// Check returns what is wrong with the consent by itself: Mistakes, or nil.
func (a *Acceptance) Check() error {
	var c checker
	c.jobID(a.Job)
	c.wrong(!(a.Worst.NodeSeconds >= 0 && a.Worst.NodeSeconds <= 3600*MaxNodeHours), "worst.node_seconds", "%v is not a cost", a.Worst.NodeSeconds)
	return c.err()
}
