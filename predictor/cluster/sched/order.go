package sched

import "cmp"

// Order is the order of a queue: the job with the lowest key comes first. A Scheduler computes
// a job's key when the job joins the queue, and all keys in Reorder. (Slurm computes
// multifactor priorities every PriorityCalcPeriod.) Among equal keys the earlier submission
// comes first, then the lower ID, then the job that joined first.
type Order struct {
	Name string
	Key  func(now int64, j *Job) float64 // nil: all keys are equal
}

// FCFS is first come, first served.
func FCFS() Order { return Order{Name: "fcfs"} }

// LWF is least work first. Work is processors times the job's estimate or limit (Smith 2000,
// section 2.1).
func LWF() Order {
	return Order{"lwf", func(_ int64, j *Job) float64 { return float64(j.Procs) * float64(j.planned()) }}
}

// compare compares the places of two queued jobs. It returns 0 only for the same job.
func compare(a, b *Job) int {
	return cmp.Or(cmp.Compare(a.state.key, b.state.key), cmp.Compare(a.Submit, b.Submit),
		cmp.Compare(a.ID, b.ID), cmp.Compare(a.state.joined, b.state.joined))
}
