package replay

// left foretells how much work a job has left, by the jobs that ended before: the mean of what was
// left of their limits when as much of them had been used.
type left struct {
	// jobs has the number of jobs that used at least so many of the parts of their limits, and
	// parts the parts that they used beyond.
	jobs, parts [limitParts + 1]float64
}

// limitParts are the parts into which a limit is divided.
const limitParts = 50

// learn learns from a job that has ended.
func (l *left) learn(j *Job) {
	if j.Limit == 0 {
		return
	}
	used := min(1, float64(j.Work)/float64(j.Limit)) * limitParts
	for n := 0; float64(n) < used; n++ {
		l.jobs[n]++
		l.parts[n] += used - float64(n)
	}
}

// of returns the seconds of work that a job is expected to have left after so many, or 0 if nothing
// is known of that: it has no limit or has used it, or no job has ended that used as much. Before
// the first ten such jobs, the limit counts.
func (l *left) of(j *Job, done int64) float64 {
	if j.Limit <= done {
		return 0
	}
	part := float64(j.Limit) / limitParts
	n := min(limitParts-1, int(float64(done)/part))
	if l.jobs[n] < 10 {
		return float64(j.Limit - done)
	}
	return max(1, l.parts[n]/l.jobs[n]*part-(float64(done)-float64(n)*part))
}
