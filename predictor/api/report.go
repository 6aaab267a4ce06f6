package api

// Groupings are what a report can be grouped by.
var Groupings = []string{"user", "account", "partition", "month"}

// Report compares what was promised with what was kept.
type Report struct {
	By   string      `json:"by"` // "user", "account", "partition", "month" or "" (one row)
	Rows []ReportRow `json:"rows"`
}

// ReportRow is one group of settled reservations.
type ReportRow struct {
	Group     string `json:"group"`
	Promises  int    `json:"promises"`
	Kept      int    `json:"kept"`
	Missed    int    `json:"missed"`
	Cancelled int    `json:"cancelled"`
	Open      int    `json:"open"`
	// Promised is the mean probability asked for, Estimated the mean forecast
	// and Delivered kept / (kept + missed), with its 95 % interval from Low to
	// High; all over the kept and the missed. The interval is a block bootstrap's
	// over the weeks of the deadlines. With deadlines in fewer than 5 weeks it is
	// Clopper and Pearson's, as if each promise were independent of the others.
	Promised  float64 `json:"promised"`
	Estimated float64 `json:"estimated"`
	Delivered float64 `json:"delivered"`
	Low       float64 `json:"low"`
	High      float64 `json:"high"`
	// Required node-seconds, which the work took; Used ones, for which the jobs
	// had their nodes; and Used / Required, as in the paper's Table 3. All over
	// the jobs that have ended, those cancelled while they held nodes too.
	Required float64 `json:"required_node_seconds"`
	Used     float64 `json:"used_node_seconds"`
	Ratio    float64 `json:"ratio"`
}
