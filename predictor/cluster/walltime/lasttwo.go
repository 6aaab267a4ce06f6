package walltime

import "github.com/varq-project/varq/predictor/cluster/sched"

// LastTwo predicts the average of the user's last two run times, or the limit if there are none
// (Tsafrir, Etsion and Feitelson, "Backfilling Using System-Generated Predictions", 2007). It
// is the simplest predictor that does well, and serves as a baseline. The zero LastTwo has
// learnt nothing.
type LastTwo struct {
	runs map[int32][2]int64 // the last first
}

// Estimate returns the predicted run time of j in seconds. ok is always true.
func (l *LastTwo) Estimate(j *sched.Job) (seconds int64, ok bool) {
	runs, ok := l.runs[j.User]
	if !ok {
		return j.Limit, true
	}
	return max(1, min((runs[0]+runs[1])/2, j.Limit)), true
}

// Learn learns from a job that has ended.
func (l *LastTwo) Learn(j *sched.Job) {
	if l.runs == nil {
		l.runs = make(map[int32][2]int64)
	}
	ran := j.End - j.Start
	before, ok := l.runs[j.User]
	if !ok {
		before[0] = ran
	}
	l.runs[j.User] = [2]int64{ran, before[0]}
}
