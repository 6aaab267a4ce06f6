package checkpoint

import (
	"errors"
	"fmt"
	"math"
)

// Request is an application's question whether to checkpoint now.
type Request struct {
	Cost     float64 // C: how long a checkpoint stops the work
	Interval float64 // I: the work from one request to the next
	// T: the work since the last checkpoint done, or since the start: what a failure loses
	Since   float64
	Restart float64 // what a failure costs besides lost work; 0 if that is not known
	Left    float64 // the work until the job is done; 0 if that is not known, or Done
	// Ends is in how long the job is stopped if it is not done by then: at its time limit, or where
	// a maintenance or the like begins. 0 stands for no such time.
	Ends float64
	// Deadline is in how long the job should be done. 0 stands for no deadline, and one that has
	// passed is negative.
	Deadline float64
	// Warned is true if since the last checkpoint somebody has begun to take one of the nodes out
	// of service, so that the job may be stopped at any time.
	Warned bool
	Done   bool // nothing is left to do
	Hazard Hazard
}

// Hazard is the risk that the nodes of a job fail.
type Hazard interface {
	// Within returns the probability that at least one of the nodes fails within the next seconds.
	// It does not decrease.
	Within(seconds float64) float64
	// Rate returns the failures per second of as many nodes in the long run: on those that the job
	// is continued on after a failure, and when all that is known now of its nodes has ceased to
	// matter.
	Rate() float64
}

// Constant is the Hazard of nodes that fail at a constant rate, per second: the time to the next
// failure is exponentially distributed, and nothing is known of when it comes.
type Constant float64

// Within implements Hazard.
func (c Constant) Within(seconds float64) float64 { return -math.Expm1(-float64(c) * seconds) }

// Rate implements Hazard.
func (c Constant) Rate() float64 { return float64(c) }

// Longest is the greatest time of a Request: a century.
const Longest = 100 * 365.25 * 24 * 3600

// The errors of Check name a time of the Request.
var (
	ErrCost     = errors.New("the cost of a checkpoint")
	ErrInterval = errors.New("the interval between requests")
	ErrSince    = errors.New("the work since the last checkpoint")
	ErrRestart  = errors.New("the cost of a restart")
	ErrLeft     = errors.New("the work left")
	ErrEnds     = errors.New("the time to the job's end")
	ErrDeadline = errors.New("the time to the deadline")
	ErrHazard   = errors.New("the rate of failures")
)

// Check returns an error if a time is negative, where it may not be, no number, or longer than
// Longest, or if the rate of failures is no such number.
func (r *Request) Check() error {
	for _, time := range []struct {
		of         error
		value, low float64
	}{
		{ErrCost, r.Cost, 0}, {ErrInterval, r.Interval, 0}, {ErrSince, r.Since, 0}, {ErrRestart, r.Restart, 0},
		{ErrLeft, r.Left, 0}, {ErrEnds, r.Ends, 0}, {ErrDeadline, r.Deadline, -Longest},
	} {
		if !(time.value >= time.low && time.value <= Longest) {
			return fmt.Errorf("%w: %v s is not between %v and %.0f", time.of, time.value, time.low, Longest)
		}
	}
	if r.Interval == 0 {
		return fmt.Errorf("%w: 0 s is too short", ErrInterval)
	}
	if rate := r.Hazard.Rate(); !(rate >= 0) || math.IsInf(rate, 1) {
		return fmt.Errorf("%w: %v a second", ErrHazard, rate)
	}
	return nil
}
