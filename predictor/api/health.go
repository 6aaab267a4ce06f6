package api

// Health is varqd's own state.
type Health struct {
	OK bool `json:"ok"`
	// Problems are sentences about what does not work, for people.
	Problems []string `json:"problems,omitempty"`
	// Notes are sentences about what is left out as long as it does not work.
	Notes []string `json:"notes,omitempty"`
	// History is the number of past jobs learnt from, Newest the start of the
	// last.
	History int    `json:"history"`
	Newest  int64  `json:"newest"`
	Version string `json:"version"`
}
