package sched

// state is what a Scheduler notes on a job.
type state struct{}
