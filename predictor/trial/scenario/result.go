package scenario

// Result is what a scenario came to. Times and durations are seconds; shares are
// of 1.
type Result struct {
	Jobs int `json:"jobs"`
	// First and Last are the first and the last submission, End the last end.
	First int64 `json:"first_submission"`
	Last  int64 `json:"last_submission"`
	End   int64 `json:"end"`
	// Utilisation is the share of the processors' time that was taken by jobs
	// between the first submission and the last; UtilisationToEnd until the last
	// end. Held is the share that VARQ jobs held before their work, and Lost what
	// stopped jobs had run in vain, both until the last end.
	Utilisation      float64 `json:"utilisation"`
	UtilisationToEnd float64 `json:"utilisation_to_end"`
	Held             float64 `json:"held"`
	Lost             float64 `json:"lost"`
	// All is about all jobs but those that hold reservations; Others is about
	// those alone that never asked for one, nor were set aside.
	All    Waits `json:"all"`
	Others Waits `json:"others"`

	Hard *HardResult `json:"hard,omitempty"`
	VARQ *VARQResult `json:"varq,omitempty"`

	Stops  int    `json:"stops"` // of running jobs, for hard reservations
	Series Series `json:"series"`
}

// Waits tells how long jobs waited: from their submission to the start that was
// not in vain.
type Waits struct {
	Jobs   int     `json:"jobs"`
	Mean   float64 `json:"mean"`
	Median int64   `json:"median"`
	P95    int64   `json:"p95"`
	Max    int64   `json:"max"`
	// Slowdown is the mean bounded slowdown max(1, (wait+run)/max(run, 10 s))
	// (Feitelson 2001).
	Slowdown float64 `json:"bounded_slowdown"`
	// Percentiles are the waits that 0, 1, ... 100 % of the jobs did not exceed;
	// empty without jobs.
	Percentiles []int64 `json:"percentiles,omitempty"`
}

// HardResult is what those got who reserved hard.
type HardResult struct {
	Jobs int `json:"jobs"`
	// Exact is how many got the time they asked for. Offset is the mean distance
	// between the time asked for and the one granted, Median its median.
	Exact  int     `json:"exact"`
	Offset float64 `json:"mean_offset"`
	Median int64   `json:"median_offset"`
}

// VARQResult is what those got who reserved by VARQ.
type VARQResult struct {
	Asked    int `json:"asked"`
	Promised int `json:"promised"`
	Kept     int `json:"kept"` // running by their deadline
	// Down is how many were refused because nobody could be promised anything, as
	// during an outage, and Why what was said to the last of them.
	Down int    `json:"down,omitempty"`
	Why  string `json:"why,omitempty"`
	// KeptLow and KeptHigh are the 95 % confidence interval of the share kept
	// (Clopper and Pearson), 0 and 1 without promises.
	KeptLow  float64 `json:"kept_low"`
	KeptHigh float64 `json:"kept_high"`
	// Prob is the mean probability forecast of those promised, when they were; 0
	// without promises.
	Prob float64 `json:"mean_probability"`
	// Overhead is the processor time held before the work per processor time of
	// work: the paper's Table 3 prints 1 more.
	Overhead float64 `json:"overhead"`
	// Moves is how often a pending reservation was planned anew.
	Moves int `json:"moves"`
}

// Series are means over equal steps of time.
type Series struct {
	Start  int64     `json:"start"`
	Step   int64     `json:"step"`
	Queued []float64 `json:"queued"` // jobs
	Busy   []float64 `json:"busy"`   // share of the processors
}
