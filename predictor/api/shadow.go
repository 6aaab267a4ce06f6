package api

// ShadowQuery selects the jobs of a Shadow: those that began to wait from Start on and before End,
// Unix seconds; 0 means no bound.
type ShadowQuery struct{ Start, End int64 }

// Shadow is what varqd would have promised, and what would have come of it. It is made in shadow
// mode, from reservations that nobody has asked for, planned for a random sample of the jobs that
// began to wait.
type Shadow struct {
	// Watching is true if varqd is in shadow mode now.
	Watching bool `json:"watching"`
	// Since is when varqd, if it watches, was started, Unix seconds. It is 0 if an older varqd does
	// not say.
	Since int64 `json:"since,omitempty"`
	// Jobs is the number of jobs watched. From and To are when the first and the last of them
	// began to wait.
	Jobs int         `json:"jobs"`
	From int64       `json:"from"`
	To   int64       `json:"to"`
	Rows []ShadowRow `json:"rows"`
}

// ShadowRow sums up the reservations with one probability, of the jobs of one partition.
type ShadowRow struct {
	Partition string  `json:"partition"` // empty for all partitions together
	Prob      float64 `json:"prob"`
	// Jobs is the sum of Refused, Kept, Missed and Unknown. Of an Unknown one the job still waits,
	// or was cancelled early.
	Jobs    int `json:"jobs"`
	Refused int `json:"refused"`
	Kept    int `json:"kept"`
	Missed  int `json:"missed"`
	Unknown int `json:"unknown"`
	// Delivered is kept / (kept + missed). Low and High are the ends of its 95 % interval, as in
	// a ReportRow.
	Delivered float64 `json:"delivered"`
	Low       float64 `json:"low"`
	High      float64 `json:"high"`
	// Held is for how many node-seconds nodes would have idled before the work, and Ratio is the
	// same in times of the work, over the jobs that have ended.
	Held  float64 `json:"held_node_seconds"`
	Ratio float64 `json:"ratio"`
}
