package workload

// Aging is what Slurm adds to the priority of a job because it waits: Weight after Max seconds,
// before then in proportion, and no more after them (PriorityWeightAge and PriorityMaxAge). The
// zero Aging adds nothing.
type Aging struct {
	Weight int64
	Max    int64
}

// Gain returns what a job's priority has gained after it has waited for some seconds.
func (a Aging) Gain(waited int64) int64 {
	if a.Max <= 0 || waited <= 0 {
		return 0
	}
	return int64(float64(a.Weight) * float64(min(waited, a.Max)) / float64(a.Max))
}
