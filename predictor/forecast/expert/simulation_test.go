package expert

import (
	"math/rand/v2"
	"testing"

	"github.com/varq-project/varq/predictor/cluster/queue"
	"github.com/varq-project/varq/predictor/forecast/forecasttest"
	"github.com/varq-project/varq/predictor/forecast/twin"
)

// TestSimulationLearnsItsErrors: after some dozens of jobs its forecasts score better than the
// distribution of all waits, quantiles hold about as often as their levels, and no more errors are
// kept than are used.
func TestSimulationLearnsItsErrors(t *testing.T) {
	jobs := forecasttest.Jobs(4000, 1)
	var q queue.Queue
	f := NewForest(rand.New(rand.NewPCG(1, 1)), twin.New(&q, nil), nil)
	s := NewSimulation(f)
	r := try(t, jobs, &q, s, []float64{.5, .9}, func(_ int, ok bool) bool {
		if ok != (len(s.errors) >= leastErrors) {
			t.Fatalf("answers %v with %d errors", ok, len(s.errors))
		}
		return ok
	}, f)
	n := float64(r.answered)
	if r.answered < 3800 || r.score > .75*r.anybody || r.share(0) < .4 || r.share(0) > .8 || r.share(1) < .85 || r.share(1) > .97 {
		t.Errorf("scores %.4f, anybody's %.4f; quantiles hold in %.3f and %.3f of %d", r.score/n, r.anybody/n, r.share(0), r.share(1), r.answered)
	}
	if len(s.errors) != mostErrors || s.waiting.Len() > len(jobs)-r.answered {
		t.Errorf("%d errors, %d jobs that wait", len(s.errors), s.waiting.Len())
	}
}
