package sched

// phase is where a job stands.
type phase uint8

const (
	elsewhere phase = iota // not with a Scheduler, or no longer
	queued
	reserved // has a hard reservation that has not begun
	running
)

// state is what a Scheduler notes on a job.
type state struct {
	phase phase
	// hard: the job holds a hard reservation, and may not be stopped.
	hard bool
	// index is the job's place among the running ones.
	index int32
	// key is the job's place in the order of the queue, joined its number among
	// all that ever joined it.
	key    float64
	joined uint64
	// at is when the job is to start: by its reservation, or by the place that
	// conservative backfilling keeps for it. Never: it has none.
	at int64
	// until is when a running job is thought to end.
	until int64
}

// planned returns how long a Scheduler thinks the job runs, in seconds. Hard
// reservations last as long as they were asked for.
func (j *Job) planned() int64 {
	if j.Estimate > 0 && !j.state.hard {
		return min(j.Estimate, j.Limit)
	}
	return j.Limit
}

// estimated reports whether j is planned with less than its limit, which it may
// then outlive.
func (j *Job) estimated() bool { return j.planned() < j.Limit }
