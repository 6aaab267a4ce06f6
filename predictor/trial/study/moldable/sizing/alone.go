package sizing

// Alone is a Chooser that does as the users asked, and finds out for some jobs what each strategy
// would have chosen and what would have come of that, had the job alone followed it (Downey 1997,
// section 5).
type Alone struct {
	Strategies []Predicting
	// Sampled reports whether a job is looked at.
	Sampled func(*Job) bool
	// Found is told of each such job when it is submitted: how long it takes until its end as
	// asked, at best, and by each of the Strategies, in seconds.
	Found func(j *Job, asked, best int64, by []int64)

	oracle Oracle
}

// Choose implements Chooser.
func (a *Alone) Choose(c *Cluster, j *Job) int32 {
	if !a.Sampled(j) {
		return j.Asked.Procs
	}
	turnarounds := map[int32]int64{}
	best := int64(never)
	for _, n := range j.candidates(c.free) {
		t := a.oracle.Wait(c, j, n) + j.At(n).Run
		turnarounds[n] = t
		best = min(best, t)
	}
	by := make([]int64, len(a.Strategies))
	for i := range a.Strategies {
		by[i] = turnarounds[a.Strategies[i].Choose(c, j)]
	}
	a.Found(j, turnarounds[j.Asked.Procs], best, by)
	return j.Asked.Procs
}
