package study

import (
	"math"

	"github.com/varq-project/varq/predictor/scenario"
	"github.com/varq-project/varq/predictor/sched"
	"github.com/varq-project/varq/predictor/walltime"
)

// runTimesCase is the name of the case in which run times are predicted alone.
func (l *smithLog) runTimesCase() string { return l.name + " run times" }

// scoreRunTimes predicts the run time of every job when it is submitted, from the
// jobs that have ended by then, first come, first served.
func (l *smithLog) scoreRunTimes(o Options) (Values, error) {
	jobs, err := l.jobs(o)
	if err != nil {
		return nil, err
	}
	score := &runTimeScore{lastTwo: map[int32][2]int64{}}
	sc := scenario.Scenario{Procs: l.procs, Order: sched.FCFS(), Backfill: sched.Timeline, Estimator: score}
	if _, err := sc.Run(jobs, scenario.Watch{}); err != nil || score.jobs == 0 {
		return Values{}, err
	}
	n := float64(score.jobs)
	return Values{
		"run": score.run / n, "limit": score.limitError / n,
		"last two": score.lastTwoError / n, "predicted": score.predictedError / n,
	}, nil
}

// runTimeScore adds up the absolute errors of three predictions, in seconds. The
// scheduler is told none of them. Where nothing is known the limit is what is
// predicted.
type runTimeScore struct {
	predictor walltime.Predictor
	lastTwo   map[int32][2]int64 // run times by user, the last one twice if it is the only one

	jobs                                          int
	run, limitError, lastTwoError, predictedError float64
}

// Estimate implements scenario.Estimator.
func (s *runTimeScore) Estimate(j *sched.Job) (int64, bool) {
	run, limit := float64(min(j.Run, j.Limit)), float64(j.Limit)
	lastTwo, predicted := limit, limit
	if last, ok := s.lastTwo[j.User]; ok {
		lastTwo = min(limit, float64(last[0]+last[1])/2)
	}
	if p, ok := s.predictor.Predict(j); ok {
		predicted = p.Seconds
	}
	s.jobs++
	s.run += run
	s.limitError += math.Abs(limit - run)
	s.lastTwoError += math.Abs(lastTwo - run)
	s.predictedError += math.Abs(predicted - run)
	return 0, false
}

// Learn implements scenario.Estimator.
func (s *runTimeScore) Learn(j *sched.Job) {
	last, ok := s.lastTwo[j.User]
	if !ok {
		last[0] = j.End - j.Start
	}
	s.lastTwo[j.User] = [2]int64{j.End - j.Start, last[0]}
	s.predictor.Learn(j)
}

// runTimes compares what predicts run times.
func (r smithReport) runTimes() Table {
	t := Table{Title: "Section 4.1: predicted run times, mean absolute error"}
	for i := range smithLogs {
		l := &smithLogs[i]
		for _, row := range []struct{ name, measure, note string }{
			{"mean run time", "run", ""},
			{"maximum run times", "limit", "what schedulers plan with"},
			{"mean of the user's last two", "last two", ""},
			{"similar jobs", "predicted", "what is planned with when jobs can be restarted"},
		} {
			value := r.value(l.runTimesCase(), 1, row.measure)
			if math.IsNaN(value) {
				continue
			}
			t.Rows = append(t.Rows, Row{Name: row.name + ", " + l.name, Unit: "min", Ours: intervalOf([]float64{value / 60}), Note: row.note})
		}
	}
	return t
}
