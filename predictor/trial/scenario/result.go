package scenario

import "github.com/varq-project/varq/predictor/promise/trajectory"

// Result is the result of simulating a scenario. Times are in the clock of the jobs'
// Submit, durations are in seconds, and shares are from 0 to 1.
type Result struct {
	Jobs int `json:"jobs"`
	// First is the time of the first submission, Last that of the last submission, and
	// End the time at which the last job ended.
	First int64 `json:"first_submission"`
	Last  int64 `json:"last_submission"`
	End   int64 `json:"end"`
	// Utilisation is the share of the processor time that jobs used, from First to
	// Last.
	//
	// UtilisationToEnd, Held and Lost are shares of the processor time from First to
	// End. UtilisationToEnd is the share that jobs used, Held the share for which jobs
	// with a promise of VARQ's held processors before their work, and Lost the share
	// of the runs that were stopped for hard reservations.
	Utilisation      float64 `json:"utilisation"`
	UtilisationToEnd float64 `json:"utilisation_to_end"`
	Held             float64 `json:"held"`
	Lost             float64 `json:"lost"`
	// All has the waits of the jobs without a reservation. Others also leaves out the
	// jobs whose request was refused, and the jobs that Scenario.Aside chooses.
	All    Waits `json:"all"`
	Others Waits `json:"others"`

	Hard *HardResult `json:"hard,omitempty"`
	VARQ *VARQResult `json:"varq,omitempty"`

	Stops  int    `json:"stops"` // how often a running job was stopped for a hard reservation
	Series Series `json:"series"`
	Weeks  []Week `json:"weeks"` // ascending; those in which there was something to count
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
	// Percentiles[p], for p from 0 to 100, is the shortest wait that at least p % of
	// the jobs did not exceed. Percentiles is empty if there are no jobs.
	Percentiles []int64 `json:"percentiles,omitempty"`
}

// HardResult tells how near to the time asked for hard reservations were granted.
type HardResult struct {
	Jobs int `json:"jobs"`
	// Exact counts the jobs that got the time they asked for. Offset is the mean
	// distance between the time asked for and the time granted; Median is the median
	// distance.
	Exact  int     `json:"exact"`
	Offset float64 `json:"mean_offset"`
	Median int64   `json:"median_offset"`
}

// VARQResult tells what became of the requests for VARQ's reservations.
type VARQResult struct {
	Asked    int `json:"asked"`
	Promised int `json:"promised"`
	Kept     int `json:"kept"` // promises whose job started by its deadline
	// Down counts the requests that were refused because the cluster seemed to be
	// down. Why is the reason given with the last of these refusals.
	Down int    `json:"down,omitempty"`
	Why  string `json:"why,omitempty"`
	// KeptLow and KeptHigh are the ends of the 95 % confidence interval of Kept /
	// Promised. Promises with deadlines in one week depend on one another, so weeks are
	// the unit: see score.Weekly. Without promises they are 0 and 1.
	KeptLow  float64 `json:"kept_low"`
	KeptHigh float64 `json:"kept_high"`
	// Prob is the mean of the probabilities forecast when the promises were made. It is
	// 0 without promises.
	Prob float64 `json:"mean_probability"`
	// Overhead is the processor time held before the work, divided by the processor
	// time of the work. The paper's Table 3 prints 1 + Overhead.
	Overhead float64 `json:"overhead"`
	// Work, Held and Booked are processor seconds of the jobs with promises: of their
	// work, held before it, and of the time limits that their users asked for.
	Work   float64 `json:"work"`
	Held   float64 `json:"held"`
	Booked float64 `json:"booked"`
	// Moves counts the promises by how often the begin time of the job changed while it was pending:
	// Moves[n] of them n times.
	Moves []int `json:"moves"`
	// Offers tells what became of the refused if they take what is offered.
	Offers *OffersResult `json:"offers,omitempty"`
}

// OffersResult tells what those were offered who could not be promised what they asked for. They
// are not among VARQResult's promises, but their jobs are in its processor time.
type OffersResult struct {
	Refused int `json:"refused"` // who asked and got no promise for their deadline
	Offered int `json:"offered"` // who got an offer of any kind
	// Kinds counts the offers of each kind; a job may have several.
	Kinds map[trajectory.Kind]int `json:"kinds"`
	// Later counts the offers of a deadline with the same probability that is at most MostLater
	// later. Each was taken: it is a promise, of which Kept were kept.
	Later int `json:"later"`
	Kept  int `json:"kept"`
	// KeptLow and KeptHigh are as in VARQResult, for Kept / Later.
	KeptLow  float64 `json:"kept_low"`
	KeptHigh float64 `json:"kept_high"`
}

// Series has means over steps of time. Each step lasts Step seconds. The first step
// begins at Start.
type Series struct {
	Start  int64     `json:"start"`
	Step   int64     `json:"step"`
	Queued []float64 `json:"queued"` // jobs
	Busy   []float64 `json:"busy"`   // share of the processors
}
