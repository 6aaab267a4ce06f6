package qos

// Request is a job's request for a checkpoint.
type Request struct {
	Now int64 // seconds
	// p_f, the probability that its nodes fail before the next checkpoint would be complete
	Fails     float64
	Nodes     int   // of the job
	Intervals int   // d: since the last checkpoint that was performed, or the start
	Interval  int64 // I, seconds
	Overhead  int64 // C, seconds
	Remaining int64 // work that is left, seconds
	Deadline  int64 // that was promised
}

// Rule decides whether a checkpoint that was requested is performed.
type Rule func(Request) bool

// RiskBased is the rule of Oliner et al. (2005), section 3.4: a checkpoint is performed if
// p_f d I >= C (equation 1), unless skipping it may save a deadline that would be missed otherwise.
func RiskBased(r Request) bool {
	end := r.Now + r.Remaining
	saves := end <= r.Deadline && end+r.Overhead > r.Deadline
	return r.Fails*float64(int64(r.Intervals)*r.Interval) >= float64(r.Overhead) && !saves
}

// Always performs every checkpoint.
func Always(Request) bool { return true }

// requests returns how many checkpoints a job requests in some seconds of work: one after each
// interval, but none at its end.
func (c *Config) requests(work int64) int64 { return (work - 1) / c.Interval }

// length returns the seconds for which a job occupies its nodes at most, E_j, to do some seconds of
// work.
func (c *Config) length(work int64) int64 { return work + c.requests(work)*c.Overhead }
