package workload

// Aging is what Slurm adds to the priority of a job because it waits: Weight after Max seconds,
// before then in proportion, and no more after them (PriorityWeightAge and PriorityMaxAge). The
// zero Aging adds nothing.
type Aging struct {
	Weight int64
	Max    int64
	// Always is true if jobs also gain while their begin time is to come (ACCRUE_ALWAYS).
	Always bool
}

// Of returns what the priority of a job has gained by a time, in Unix seconds.
func (a Aging) Of(j *Job, now int64) int64 {
	since := j.Since()
	if a.Always && j.Submit != 0 {
		since = j.Submit
	}
	return a.Gain(now - since)
}

// Gain returns what a job's priority has gained after it has waited for some seconds.
func (a Aging) Gain(waited int64) int64 {
	if a.Max <= 0 || waited <= 0 {
		return 0
	}
	return int64(float64(a.Weight) * float64(min(waited, a.Max)) / float64(a.Max))
}
