package sched

// phase is a job's state in a Scheduler.
type phase uint8

const (
	elsewhere phase = iota // not with a Scheduler, or no longer
	queued
	reserved // has a hard reservation that has not begun
	running
)

// state is what a Scheduler knows of a job.
type state struct {
	phase phase
	// hard: the job holds a hard reservation, and may not be stopped.
	hard bool
	// index is the index of a running job in Scheduler.running.
	index int32
	// key is the job's key by Config.Order. joined is the number of jobs that
	// came to the Scheduler before it.
	key    float64
	joined uint64
	// at is when the job is to start, by its reservation or its place in the profile. It is
	// Never if the job has neither.
	at int64
	// until is when a running job is planned to end.
	until int64
}

// planned returns the run time that a Scheduler plans the job with, in seconds. A job with a
// hard reservation is planned with its limit.
func (j *Job) planned() int64 {
	if j.Estimate > 0 && !j.state.hard {
		return min(j.Estimate, j.Limit)
	}
	return j.Limit
}

// estimated reports whether j is planned with less than its limit. Such a job may run longer
// than planned.
func (j *Job) estimated() bool { return j.planned() < j.Limit }
