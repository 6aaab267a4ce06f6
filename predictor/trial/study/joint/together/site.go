// Package together tests promises about jobs at two sites: that at least one has started by a
// deadline, or that both have. Each site replays its log with a forecaster of its own. Both replays
// advance together. Joint probabilities are forecast and learnt from on the way.
package together

import (
	"cmp"
	"math/rand/v2"
	"slices"

	"github.com/varq-project/varq/predictor/cluster/queue"
	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/forecast/predictor"
	"github.com/varq-project/varq/predictor/workload"
)

// Deadlines are the deadlines that are asked about, in seconds after a job's submission.
var Deadlines = [...]int64{900, 1800, 3600, 2 * 3600, 4 * 3600, 8 * 3600, 12 * 3600, 24 * 3600}

// Job is a job that has started, with the forecast of its wait.
type Job struct {
	Submit int64 // Unix seconds
	Wait   int64 // seconds
	Procs  int32
	User   string
	// the probabilities of a start within Deadlines that were forecast at submission
	Within [len(Deadlines)]float64
	Rank   float64 // of the wait under that forecast, in [0,1]
}

// Forecast replays the jobs of a log, in any order, and returns those that start, by submission.
// varqd's forecaster learns on line: it forecasts each job from what had happened before. The first
// tenth of the jobs, and those without a forecast, are left out. background is
// predictor.Options.Background.
func Forecast(jobs []workload.Job, background func(task func())) []Job {
	var q queue.Queue
	random := rand.New(rand.NewPCG(1, 1))
	blend := predictor.Standard(&q, predictor.Options{Background: background}, random).Present()
	learning := 0
	for i := range jobs {
		if jobs[i].Start > 0 {
			learning++
		}
	}
	learning /= 10
	var all []Job
	asked := 0
	ask := func(j *workload.Job) error {
		asked++
		wait, ok := j.Wait()
		question := forecast.AtSubmission(j)
		var a forecast.Answer
		if asked <= learning || !ok || !blend.Forecast(&question, &a) {
			return nil
		}
		v := rand.New(rand.NewPCG(uint64(j.ID), uint64(j.Submit))).Float64()
		job := Job{Submit: question.Submit, Wait: wait, Procs: j.Procs(), User: j.User, Rank: a.Wait.PIT(float64(wait), v)}
		for i, d := range Deadlines {
			job.Within[i] = a.Wait.Within(float64(d))
		}
		all = append(all, job)
		return nil
	}
	// its only errors are those of ask, which has none
	_ = forecast.Replay(jobs, &q, []forecast.Observer{blend}, ask)
	slices.SortStableFunc(all, func(a, b Job) int { return cmp.Compare(a.Submit, b.Submit) })
	return all
}
