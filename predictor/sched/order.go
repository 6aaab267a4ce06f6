package sched

// Order puts a queue in order: Key is computed when a job joins it, and the
// lowest comes first. Equal keys are ordered by Submit, then ID.
type Order struct {
	Name string
	Key  func(*Job) float64
}

// FCFS is first come first served: the order of submission.
func FCFS() Order { return Order{"fcfs", func(*Job) float64 { return 0 }} }

// LWF is least work first: the order of processors times the time asked for, or
// estimated (Smith 2000, section 2.1).
func LWF() Order { return Order{"lwf", func(j *Job) float64 { return float64(j.Procs) * float64(j.planned()) }} }
