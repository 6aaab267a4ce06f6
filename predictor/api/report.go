package api

// Groupings are the values of ReportQuery.By, besides "".
var Groupings = []string{"user", "account", "partition", "month"}

// Report compares what was promised with what was kept.
type Report struct {
	By   string      `json:"by"` // "user", "account", "partition", "month" or "" (one row)
	Rows []ReportRow `json:"rows"`
}

// ReportRow sums up one group of reservations. A reservation is kept if its job started by the
// deadline and lasted until its work began, or, if that was promised, ended by the deadline. A
// group of promises counts as one, at its home; of its members only the node-seconds count.
type ReportRow struct {
	Group     string `json:"group"`
	Promises  int    `json:"promises"`
	Kept      int    `json:"kept"`
	Missed    int    `json:"missed"`
	Cancelled int    `json:"cancelled"`
	Open      int    `json:"open"`
	// Promised is the mean probability asked for, Estimated the mean probability forecast, and
	// Delivered is kept / (kept + missed). All three are over the reservations kept or missed. Low
	// and High are the ends of Delivered's 95 % interval. The interval is a block bootstrap's over
	// the weeks of the deadlines. With deadlines in fewer than 5 weeks, where a week with few
	// hardly counts, it is Clopper and Pearson's interval, for which the promises are independent
	// of one another.
	Promised  float64 `json:"promised"`
	Estimated float64 `json:"estimated"`
	Delivered float64 `json:"delivered"`
	Low       float64 `json:"low"`
	High      float64 `json:"high"`
	// Required is the node-seconds that the work took, Used the node-seconds for which
	// the jobs had their nodes, and Ratio is Used / Required, as in the paper's Table 3.
	// They are over the jobs that have ended, including those of cancelled reservations.
	Required float64 `json:"required_node_seconds"`
	Used     float64 `json:"used_node_seconds"`
	Ratio    float64 `json:"ratio"`
	// QoS is the sum over the promises kept of their work times the probability promised, divided
	// by the work of all promises kept or missed, as asked for (Oliner et al. 2005, equation 2).
	// Goodput is the node-seconds that the work of the promises kept took, divided by Used.
	QoS     float64 `json:"qos"`
	Goodput float64 `json:"goodput"`
	// Lost is the node-seconds of work in runs that failed nodes, or Slurm, ended before it was
	// done: what is lost without checkpoints. Of a job that was promised to begin, only its last
	// run counts.
	Lost float64 `json:"lost_node_seconds"`
}
