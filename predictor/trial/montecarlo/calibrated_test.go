package montecarlo_test

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/varq-project/varq/predictor/cluster/queue"
	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/trial/montecarlo"
	"github.com/varq-project/varq/predictor/workload"
	"github.com/varq-project/varq/test/synthetic"
)

// TestCalibrated: on synthetic logs, about a share p of the starts forecast with
// probability p come true.
func TestCalibrated(t *testing.T) {
	for _, c := range synthetic.Policies {
		policy := c.Policy
		jobs := synthetic.Scheduled(policy, 128, c.Load, 1000)
		var q queue.Queue
		f := montecarlo.New(&q, 32, rand.New(rand.NewPCG(1, 1)))
		gap := (jobs[len(jobs)-1].Submit - jobs[0].Submit) / int64(len(jobs))
		var present, ahead reliability
		asked := 0
		ask := func(j *workload.Job, now int64, r *reliability) {
			var a forecast.Answer
			if !f.Forecast(&forecast.Question{Request: j.Request, Now: now, Submit: j.Submit}, &a) {
				t.Error("no answer")
			}
			for _, within := range []float64{0, 300, 1800, 3600, 4 * 3600} {
				r.add(a.Wait.Within(within), float64(j.Start-j.Submit) <= within)
			}
		}
		err := forecast.Replay(jobs, &q, []forecast.Observer{f}, func(j *workload.Job) error {
			if asked++; asked < len(jobs)/3 || asked%8 != 0 {
				return nil
			}
			ask(j, j.Submit, &present)
			if next, _ := slices.BinarySearchFunc(jobs, j.Submit+4*gap, bySubmission); next < len(jobs) {
				ask(&jobs[next], j.Submit, &ahead)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%v: expected calibration error %.3f, of %.0f jobs to come %.3f", policy, present.err(), ahead.n(), ahead.err())
		// With a few hundred answers, chance explains an error of a few hundredths. It
		// explains more for later submissions, as their answers depend on each other.
		present.check(t, .08)
		ahead.check(t, .12)
	}
}

func bySubmission(j workload.Job, at int64) int { return cmp.Compare(j.Submit, at) }

// reliability has, for each tenth of the probability, the number of forecasts, their sum
// and how many came true.
type reliability struct{ count, sum, true [11]float64 }

func (r *reliability) add(p float64, came bool) {
	i := int(math.Round(p * 10))
	r.count[i]++
	r.sum[i] += p
	if came {
		r.true[i]++
	}
}

func (r *reliability) n() (n float64) {
	for _, c := range r.count {
		n += c
	}
	return n
}

func (r *reliability) err() (sum float64) {
	for i := range r.count {
		sum += math.Abs(r.sum[i] - r.true[i])
	}
	return sum / r.n()
}

// check fails the test if the expected calibration error is above most.
func (r *reliability) check(t *testing.T, most float64) {
	t.Helper()
	if r.err() <= most {
		return
	}
	t.Errorf("expected calibration error %.3f", r.err())
	for i := range r.count {
		t.Logf("%.2f came true %.2f (%.0f)", r.sum[i]/r.count[i], r.true[i]/r.count[i], r.count[i])
	}
}
