package predictor

import (
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/varq-project/varq/predictor/cluster/queue"
	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/forecast/blend"
	"github.com/varq-project/varq/predictor/forecast/expert"
	"github.com/varq-project/varq/predictor/forecast/forecasttest"
	"github.com/varq-project/varq/predictor/workload"
)

// TestConcurrentForecasts: questions asked at the same time have the same answers as
// those asked one after the other.
func TestConcurrentForecasts(t *testing.T) {
	var q queue.Queue
	random := rand.New(rand.NewPCG(1, 1))
	downey := expert.NewDowney(&q)
	all := []forecast.Forecaster{
		History(Options{}, random), downey,
		blend.New("blend", random, downey, expert.NewForest(random, nil, nil)),
		Standard(&q, Options{}, random),
	}
	observers := make([]forecast.Observer, len(all))
	for i, f := range all {
		observers[i] = f
	}
	jobs := forecasttest.Jobs(120, 2)
	for i := range jobs[100:] {
		jobs[100+i].Start, jobs[100+i].End, jobs[100+i].State = 0, 0, workload.Pending
	}
	if err := forecast.Replay(jobs, &q, observers, func(*workload.Job) error { return nil }); err != nil {
		t.Fatal(err)
	}
	now := jobs[len(jobs)-1].Submit
	questions := make([]forecast.Question, 12)
	for i := range questions {
		questions[i] = forecast.Question{Request: jobs[i].Request, Now: now, Submit: now + int64(i/4)*3600}
	}
	for _, f := range all {
		t.Run(f.Name(), func(t *testing.T) {
			var want [12]forecast.Answer
			for i := range questions {
				f.Forecast(&questions[i], &want[i])
			}
			var wg sync.WaitGroup
			for shift := range 4 {
				wg.Go(func() {
					for k := range questions {
						i := (k*5 + 3*shift) % len(questions)
						var a forecast.Answer
						f.Forecast(&questions[i], &a)
						if a.Wait != want[i].Wait || a.Lower != want[i].Lower {
							t.Errorf("question %d is answered in another way", i)
						}
					}
				})
			}
			wg.Wait()
		})
	}
}
