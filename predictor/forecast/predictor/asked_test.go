package predictor

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/varq-project/varq/predictor/cluster/queue"
	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/forecast/forecasttest"
	"github.com/varq-project/varq/predictor/workload"
)

// TestLearnsWithoutBeingAsked: a Predictor learns the same whether or not somebody has asked
// about each job before its submission. It then asks itself, when the queue has the job
// already.
func TestLearnsWithoutBeingAsked(t *testing.T) {
	jobs := forecasttest.Jobs(800, 8)
	replay := func(ask bool) (answer forecast.Answer) {
		var q queue.Queue
		p := Standard(&q, Options{}, rand.New(rand.NewPCG(1, 1)))
		err := forecast.Replay(jobs, &q, []forecast.Observer{p}, func(j *workload.Job) error {
			if question := forecast.AtSubmission(j); ask {
				p.Forecast(&question, &answer)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		question := forecast.AtSubmission(&jobs[len(jobs)-1])
		question.Job = 0
		p.Forecast(&question, &answer)
		return answer
	}
	if asked, silent := replay(true), replay(false); asked.Wait != silent.Wait {
		t.Errorf("asked, a median of %v s; not asked, of %v s", asked.Wait.Quantile(.5), silent.Wait.Quantile(.5))
	}
}

// TestPendingJobAsks: the trajectory of a job that waits in the queue is the one of such a
// job without it.
func TestPendingJobAsks(t *testing.T) {
	var q queue.Queue
	p := Standard(&q, Options{}, rand.New(rand.NewPCG(1, 1)))
	jobs := forecasttest.Jobs(600, 6)
	if err := forecast.Replay(jobs, &q, []forecast.Observer{p}, func(*workload.Job) error { return nil }); err != nil {
		t.Fatal(err)
	}
	now := jobs[len(jobs)-1].Submit
	j := workload.Job{ID: 10_000, Submit: now, Eligible: now, Request: jobs[3].Request}
	j.CPUs = 40
	forecast := func(job int64) []workload.Estimate {
		c := []workload.Candidate{{Submit: now, Limit: j.Limit, Budget: 3600, Job: job}, {Submit: now + 7200, Limit: j.Limit, Budget: 600, Job: job}}
		est := make([]workload.Estimate, len(c))
		Trajectory{p}.Forecast(j.Request, now, c, est)
		return est
	}
	q.Submit(j)
	p.Submitted(&j)
	own, second := forecast(j.ID), forecast(0)
	q.Remove(j.ID)
	j.End = now
	p.Ended(&j)
	if without := forecast(0); !slices.Equal(own, without) {
		t.Errorf("%+v, and without it %+v", own, without)
	}
	if slices.Equal(own, second) {
		t.Error("a job more in the queue changes nothing for others")
	}
}

// TestArraysTeachNothing: an array starts when the last of its tasks does, which says nothing
// of how long a job waits.
func TestArraysTeachNothing(t *testing.T) {
	effective := func(tasks int32) float64 {
		var q queue.Queue
		p := Standard(&q, Options{}, rand.New(rand.NewPCG(1, 1)))
		jobs := forecasttest.Jobs(400, 9)
		for i := range jobs {
			jobs[i].Tasks = tasks
		}
		if err := forecast.Replay(jobs, &q, []forecast.Observer{p}, func(*workload.Job) error { return nil }); err != nil {
			t.Fatal(err)
		}
		question := forecast.AtSubmission(&jobs[0])
		var answer forecast.Answer
		p.Forecast(&question, &answer)
		return answer.Recalibrated
	}
	if got := effective(1); got < 100 {
		t.Errorf("of 400 jobs it has learnt from %v", got)
	}
	if got := effective(9); got > 20 {
		t.Errorf("of 400 arrays it has learnt from %v", got)
	}
}
