package scenario

// Result is the outcome of a scenario. Times are those of the jobs, durations are in
// seconds, and shares between 0 and 1.
type Result struct {
	Jobs int `json:"jobs"`
	// First and Last are the times of the first and of the last submission, End that
	// of the last end of a job.
	First int64 `json:"first_submission"`
	Last  int64 `json:"last_submission"`
	End   int64 `json:"end"`
	// Utilisation is the share of the processors' time, from the first submission to
	// the last, in which they ran jobs. UtilisationToEnd is the same from the first
	// submission to the last end. So are Held, the share in which VARQ's jobs held
	// processors before their work, and Lost, that of the runs of jobs that were then
	// stopped.
	Utilisation      float64 `json:"utilisation"`
	UtilisationToEnd float64 `json:"utilisation_to_end"`
	Held             float64 `json:"held"`
	Lost             float64 `json:"lost"`
	// All is about the jobs that have no reservation. Others leaves out those that
	// asked for one, and those that were set aside.
	All    Waits `json:"all"`
	Others Waits `json:"others"`

	Hard *HardResult `json:"hard,omitempty"`
	VARQ *VARQResult `json:"varq,omitempty"`

	Stops  int    `json:"stops"` // of running jobs, for hard reservations
	Series Series `json:"series"`
}

// Waits summarises how long jobs waited, from their submission to their last start.
type Waits struct {
	Jobs   int     `json:"jobs"`
	Mean   float64 `json:"mean"`
	Median int64   `json:"median"`
	P95    int64   `json:"p95"`
	Max    int64   `json:"max"`
	// Slowdown is the mean bounded slowdown max(1, (wait+run)/max(run, 10 s))
	// (Feitelson 2001).
	Slowdown float64 `json:"bounded_slowdown"`
	// Percentiles has the waits that 0, 1, ... 100 % of the jobs did not exceed. It is
	// empty without jobs.
	Percentiles []int64 `json:"percentiles,omitempty"`
}

// HardResult tells how hard reservations were granted.
type HardResult struct {
	Jobs int `json:"jobs"`
	// Exact counts the jobs that got the very time they asked for. Offset is the mean
	// distance between the time asked for and the one granted, and Median the median.
	Exact  int     `json:"exact"`
	Offset float64 `json:"mean_offset"`
	Median int64   `json:"median_offset"`
}

// VARQResult tells what became of the requests for VARQ's reservations.
type VARQResult struct {
	Asked    int `json:"asked"`
	Promised int `json:"promised"`
	Kept     int `json:"kept"` // promises: the job started by its deadline
	// Down counts the refusals because the cluster seemed to be down, and Why is the
	// reason given with the last of them.
	Down int    `json:"down,omitempty"`
	Why  string `json:"why,omitempty"`
	// KeptLow and KeptHigh are the ends of the 95 % confidence interval of Kept /
	// Promised (Clopper and Pearson); they are 0 and 1 without promises.
	KeptLow  float64 `json:"kept_low"`
	KeptHigh float64 `json:"kept_high"`
	// Prob is the mean of the forecasts at the times of the promises; 0 without
	// promises.
	Prob float64 `json:"mean_probability"`
	// Overhead is the processor time held before the work, per processor time of the
	// work. The paper's Table 3 prints 1 more.
	Overhead float64 `json:"overhead"`
	// Moves counts the changes of a pending job's begin time.
	Moves int `json:"moves"`
}

// Series has the means over steps of time, the first of which begins at Start. All
// last Step seconds.
type Series struct {
	Start  int64     `json:"start"`
	Step   int64     `json:"step"`
	Queued []float64 `json:"queued"` // jobs
	Busy   []float64 `json:"busy"`   // share of the processors
}
