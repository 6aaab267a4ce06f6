package sched

import "cmp"

// Order puts a queue in order: the job with the lowest key comes first. Keys are
// computed when a job joins the queue, and again by Scheduler.Reorder, as Slurm's
// multifactor priorities are every PriorityCalcPeriod. Of equal keys the earlier
// submission comes first, then the lower ID, then the one that joined first.
type Order struct {
	Name string
	Key  func(now int64, j *Job) float64 // nil: all keys are equal
}

// FCFS is first come, first served.
func FCFS() Order { return Order{Name: "fcfs"} }

// LWF is least work first: processors times the time asked for, or estimated
// (Smith 2000, section 2.1).
func LWF() Order {
	return Order{"lwf", func(_ int64, j *Job) float64 { return float64(j.Procs) * float64(j.planned()) }}
}

// compare orders two queued jobs; it is 0 only for the same job twice.
func compare(a, b *Job) int {
	return cmp.Or(cmp.Compare(a.state.key, b.state.key), cmp.Compare(a.Submit, b.Submit),
		cmp.Compare(a.ID, b.ID), cmp.Compare(a.state.joined, b.state.joined))
}
