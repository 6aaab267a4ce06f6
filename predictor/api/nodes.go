package api

// Nodes are the nodes of the cluster, and how probable it is that they fail.
type Nodes struct {
	At int64 `json:"at"` // when Slurm was asked
	// Since is when what was learnt from begins, and Failures how many failures it has.
	Since    int64  `json:"since"`
	Failures int    `json:"failures"`
	Nodes    []Node `json:"nodes"` // the riskiest first
}

// Node is a node of the cluster.
type Node struct {
	Name string `json:"name"`
	// Risk is the probability that it fails within a day, 0 of a node that is out of service, and
	// Why what most of that rests on: part of a sentence.
	Risk   float64 `json:"risk"`
	Why    string  `json:"why,omitempty"`
	State  string  `json:"state"`            // up, drained, down and their like
	Reason string  `json:"reason,omitempty"` // why it is not up
	By     string  `json:"by,omitempty"`     // who said so
	Since  int64   `json:"since,omitempty"`  // of the state, where that is known
	Back   int64   `json:"back,omitempty"`   // when Slurm resumes it by itself, if it does
	// Heard is when its agent was heard last since varqd started, or 0, and Noticed what was
	// noticed in what that said, the latest first.
	Heard   int64     `json:"heard,omitempty"`
	Noticed []Noticed `json:"noticed,omitempty"`
}

// Noticed is something in a node's Vitals that may announce a failure.
type Noticed struct {
	At   int64  `json:"at"`
	Kind string `json:"kind"`
	What string `json:"what"` // in words
}
