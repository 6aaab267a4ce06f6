package expert

import (
	"math/rand/v2"
	"testing"

	"github.com/varq-project/varq/predictor/cluster/queue"
	"github.com/varq-project/varq/predictor/delay"
	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/forecast/forecasttest"
	"github.com/varq-project/varq/predictor/forecast/twin"
	"github.com/varq-project/varq/predictor/workload"
)

// TestSimulationLearnsItsErrors: after some dozens of jobs its forecasts score better than the distribution of all waits, quantiles hold
// about as often as their levels, and no more errors are kept than are used.
func TestSimulationLearnsItsErrors(t *testing.T) {
	jobs := forecasttest.Jobs(4000, 1)
	var all delay.Distribution
	for i := range jobs {
		wait, _ := jobs[i].Wait()
		for k := delay.Index(float64(wait)); k < delay.Points; k++ {
			all[k] += 1 / float64(len(jobs))
		}
	}
	var q queue.Queue
	f := NewForest(rand.New(rand.NewPCG(1, 1)), twin.New(&q, nil), nil)
	s := NewSimulation(f)
	levels := []float64{.5, .9}
	held := make([]int, len(levels))
	answered, score, anybody := 0, 0., 0.
	err := forecast.Replay(jobs, &q, []forecast.Observer{s, f}, func(j *workload.Job) error {
		var a forecast.Answer
		question := forecast.AtSubmission(j)
		if ok := s.Forecast(&question, &a); ok != (len(s.errors) >= leastErrors) {
			t.Fatalf("answers %v with %d errors", ok, len(s.errors))
		} else if !ok {
			return nil
		}
		answered++
		wait, _ := j.Wait()
		score += a.Wait.CRPS(float64(wait))
		anybody += all.CRPS(float64(wait))
		for i, level := range levels {
			if float64(wait) <= a.Wait.Quantile(level) {
				held[i]++
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	share := func(i int) float64 { return float64(held[i]) / float64(answered) }
	t.Logf("scores %.4f, anybody's %.4f; quantiles hold in %.3f and %.3f", score/float64(answered), anybody/float64(answered), share(0), share(1))
	if answered < 3800 || score > .75*anybody || share(0) < .4 || share(0) > .8 || share(1) < .85 || share(1) > .97 {
		t.Errorf("scores %.4f, anybody's %.4f; quantiles hold in %.3f and %.3f of %d", score/float64(answered), anybody/float64(answered), share(0), share(1), answered)
	}
	if len(s.errors) != mostErrors || s.waiting.Len() > len(jobs)-answered {
		t.Errorf("%d errors, %d jobs that wait", len(s.errors), s.waiting.Len())
	}
}
