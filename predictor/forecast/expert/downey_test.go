package expert

import (
	"testing"

	"github.com/varq-project/varq/predictor/cluster/queue"
	"github.com/varq-project/varq/predictor/delay"
	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/forecast/forecasttest"
	"github.com/varq-project/varq/predictor/forecast/pending"
	"github.com/varq-project/varq/predictor/workload"
)

// TestDowneyKnowsTheQueue: on a machine much like the paper's, its forecasts score much
// better than the distribution of all waits, and quantiles hold about as often as their
// levels.
func TestDowneyKnowsTheQueue(t *testing.T) {
	jobs := forecasttest.Jobs(10_000, 1)
	var all delay.Distribution
	for i := range jobs {
		wait, _ := jobs[i].Wait()
		for k := delay.Index(float64(wait)); k < delay.Points; k++ {
			all[k] += 1 / float64(len(jobs))
		}
	}
	var q queue.Queue
	f := NewDowney(&q)
	var score, anybody float64
	asked, answered, held, past := 0, 0, 0, 0
	err := forecast.Replay(jobs, &q, []forecast.Observer{f}, func(j *workload.Job) error {
		var a forecast.Answer
		question := forecast.AtSubmission(j)
		ok := f.Forecast(&question, &a)
		if asked++; asked < 1000 {
			if asked <= refitted && ok {
				t.Errorf("after %d jobs it knows something", asked)
			}
			return nil
		}
		past++
		if !ok {
			return nil
		}
		answered++
		wait, _ := j.Wait()
		score += a.Wait.CRPS(float64(wait))
		anybody += all.CRPS(float64(wait))
		if float64(wait) <= a.Wait.Quantile(.9) {
			held++
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if score > .75*anybody || answered < past*99/100 || held < answered*85/100 || held > answered*97/100 {
		t.Errorf("scores %.4f, anybody's %.4f; .9 held in %d of %d answered of %d", score/float64(answered), anybody/float64(answered), held, answered, past)
	}
}

// TestDowneyForgets: the predictions of cancelled jobs are removed.
func TestDowneyForgets(t *testing.T) {
	var q queue.Queue
	f := NewDowney(&q)
	if err := forecast.Replay(forecasttest.Jobs(500, 1), &q, []forecast.Observer{f}, func(*workload.Job) error { return nil }); err != nil {
		t.Fatal(err)
	}
	for id := range int64(pending.Most) {
		j := workload.Job{ID: 10_000 + id, Submit: 2e9, Eligible: 2e9}
		j.CPUs, j.Limit = 4, 3600
		f.Submitted(&j)
		if id%2 == 0 {
			continue
		}
		j.End = j.Submit
		f.Ended(&j)
	}
	if n := f.predicted.Len(); n != pending.Most/2 {
		t.Errorf("%d predictions are remembered", n)
	}
}
