package smith

import (
	"github.com/varq-project/varq/predictor/cluster/sched"
	"github.com/varq-project/varq/predictor/cluster/walltime"
	"github.com/varq-project/varq/predictor/trial/scenario"
	"github.com/varq-project/varq/predictor/trial/study"
)

// runTimesCase returns the name of the case that scores predictions of run times.
func (l *jobLog) runTimesCase() string { return l.name + " run times" }

// scoreRunTimes predicts the run time of every job at its submission from the jobs that
// have ended before. The policy is first come, first served. The values are, in seconds,
//
//	run          mean run time
//	limit        mean absolute error of the time limit
//	last two     mean absolute error of the mean of the user's last two run times
//	predicted    mean absolute error of the prediction from similar jobs
func (l *jobLog) scoreRunTimes(o study.Options) (study.Values, error) {
	jobs, err := l.jobs(o)
	if err != nil {
		return nil, err
	}
	var r runTimes
	sc := scenario.Scenario{Procs: l.procs, Order: sched.FCFS(), Backfill: sched.Timeline, Estimator: &r}
	if _, err := sc.Run(jobs, scenario.Callbacks{}); err != nil || r.similar.Jobs() == 0 {
		return study.Values{}, err
	}
	return study.Values{
		"run": r.run / float64(r.similar.Jobs()), "limit": r.limits.Error(),
		"last two": r.ofLastTwo.Error(), "predicted": r.similar.Error(),
	}, nil
}

// runTimes scores three predictions of run times. It is a scenario.Estimator that gives no
// prediction to the scheduler. If a method has no prediction, the limit counts as its
// prediction.
type runTimes struct {
	predictor                  walltime.Predictor
	lastTwo                    walltime.LastTwo
	run                        float64 // sum in seconds
	limits, ofLastTwo, similar walltime.Score
}

// Estimate implements scenario.Estimator.
func (r *runTimes) Estimate(j *sched.Job) (int64, bool) {
	run, limit := float64(min(j.Run, j.Limit)), float64(j.Limit)
	r.run += run
	r.limits.Add(limit, run)
	lastTwo, _ := r.lastTwo.Estimate(j)
	r.ofLastTwo.Add(float64(lastTwo), run)
	predicted := limit
	if p, ok := r.predictor.Predict(j); ok {
		predicted = p.Seconds
	}
	r.similar.Add(predicted, run)
	return 0, false
}

// Learn implements scenario.Estimator.
func (r *runTimes) Learn(j *sched.Job) {
	r.lastTwo.Learn(j)
	r.predictor.Learn(j)
}

// runTimeLines returns the rows that compare predictions of run times.
func runTimeLines() []study.Line {
	var lines []study.Line
	for i := range jobLogs {
		l := &jobLogs[i]
		for _, predicted := range []struct{ name, value, note string }{
			{"mean run time", "run", ""},
			{"maximum run times", "limit", "what schedulers plan with"},
			{"mean of the user's last two", "last two", ""},
			{"similar jobs", "predicted", "what is planned with when jobs can be restarted"},
		} {
			lines = append(lines, study.Line{
				Name: predicted.name + ", " + l.name, Unit: "min",
				Ours: study.Of(l.runTimesCase(), predicted.value).Per(60), Note: predicted.note,
			})
		}
	}
	return lines
}
