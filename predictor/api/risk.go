package api

// ParamNodes is the parameter of PathRisk: nodes as Slurm writes them, node[1-4],node7.
const ParamNodes = "nodes"

// Risk is how probable it is that one of some nodes fails, and what else is known to stop the work
// on them.
type Risk struct {
	At int64 `json:"at"` // when Slurm was asked about the nodes
	// Since is when what was learnt from begins, and Failures how many failures it has.
	Since    int64 `json:"since"`
	Failures int   `json:"failures"`
	Nodes    int   `json:"nodes"` // how many they are
	// Within has, for some spans of time from At on, the failures that are expected of these nodes
	// together.
	Within []ExpectedFailures `json:"within"`
	// Rate is how many failures a second are expected beyond the last of Within.
	Rate float64 `json:"rate"`
	// Maintenance is the next that begins on one of the nodes, and Drain what has been taken out of
	// service last.
	Maintenance *Maintenance `json:"maintenance,omitempty"`
	Drain       *Drain       `json:"drain,omitempty"`
}

// ExpectedFailures are failures that are expected of several nodes together within a time. Failures
// that take several of them at once count once: one or more come with probability 1-exp(-Failures).
type ExpectedFailures struct {
	Within   int64   `json:"within"`
	Failures float64 `json:"failures"`
}

// Maintenance is one of Slurm's own reservations that is for maintenance. Name is empty if only
// operators may see it.
type Maintenance struct {
	Name  string `json:"name"`
	Start int64  `json:"start"`
}

// Drain is a node that runs its last jobs.
type Drain struct {
	Node   string `json:"node"`
	Since  int64  `json:"since"`
	Reason string `json:"reason,omitempty"`
	By     string `json:"by,omitempty"` // who said so
}
