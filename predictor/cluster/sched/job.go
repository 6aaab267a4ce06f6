package sched

import "math"

// Never is a time that does not come.
const Never = math.MaxInt64

// Job is a job of a space-sharing cluster: a number of processors for a time.
// Times are seconds since any epoch. A Job belongs to one Scheduler at a time,
// from its submission or reservation until it has ended.
type Job struct {
	ID     int64
	Submit int64 // when it joins the queue; a job put back keeps it
	Limit  int64 // requested wall time, seconds; at least 1
	// Estimate is the run time that a Scheduler plans the job with, in seconds, if that
	// is less than Limit; 0 stands for Limit. The job may run for longer.
	Estimate int64
	// Run is how long the job runs unless it is stopped, in seconds. Simulators read it. A
	// Scheduler does not.
	Run   int64
	Procs int32 // processors, at least 1
	// User, Group, App, Queue and Partition are numbers, as in a log; -1 stands for unknown.
	User, Group, App, Queue, Partition int32

	// Start is when the job last started, and End when it ended. The Scheduler sets them.
	// Before that they have no meaning.
	Start, End int64
	// Stops is how often the job was stopped and put back. Lost is the seconds that it ran
	// before it was stopped, in sum.
	Stops int32
	Lost  int64

	state state
}
