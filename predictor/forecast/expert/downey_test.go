package expert

import (
	"testing"

	"github.com/varq-project/varq/predictor/cluster/queue"
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
	var q queue.Queue
	f := NewDowney(&q)
	r := try(t, jobs, &q, f, []float64{.9}, func(asked int, ok bool) bool {
		if asked <= refitted && ok {
			t.Errorf("after %d jobs it knows something", asked)
		}
		return asked >= 1000
	})
	n := float64(r.answered)
	if r.score > .75*r.anybody || r.answered < r.measured*99/100 || r.held[0] < r.answered*85/100 || r.held[0] > r.answered*97/100 {
		t.Errorf("scores %.4f, anybody's %.4f; .9 held in %d of %d answered of %d", r.score/n, r.anybody/n, r.held[0], r.answered, r.measured)
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
