package predictor

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/varq-project/varq/predictor/cluster/queue"
	"github.com/varq-project/varq/predictor/delay"
	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/forecast/forecasttest"
	"github.com/varq-project/varq/predictor/workload"
)

// A job that has waited for longer than any before is forecast as if it came now, because it is not
// certain that it never starts. A job that has waited for a part of its time has less to go.
func TestLongWait(t *testing.T) {
	minutes := func(from, to float64) (d delay.Distribution) {
		for i := range d {
			d[i] = min(1, max(0, (delay.At(i)-from*60)/((to-from)*60)))
		}
		return d
	}
	d, anew := minutes(0, 10), minutes(0, 10)
	given(&d, 3600)
	if d != anew {
		t.Errorf("after an hour: %v", d)
	}
	given(&d, 300)
	for _, seconds := range []float64{60, 150, 300, 500} {
		less, begun := min(1, seconds/300), seconds/600
		// twice the error of recalibration
		if got, want := d.Within(seconds), (less*.5+begun)/1.5; math.Abs(got-want) > .03 {
			t.Errorf("after five minutes: %.3f within %g s, want %.3f", got, seconds, want)
		}
	}
}

// TestWaiting: on a made-up machine, the quantiles of the rests of waits hold about as often as
// they say, for jobs that have just come and for those that have waited for long, and the forecasts
// score better than those of whole waits of which only the age is known.
func TestWaiting(t *testing.T) {
	jobs := forecasttest.Jobs(12_000, 3)
	var q queue.Queue
	p := Standard(&q, Options{}, rand.New(rand.NewPCG(1, 1)))
	random := rand.New(rand.NewPCG(2, 2))
	truth := make(map[int64]*workload.Job, len(jobs))
	for i := range jobs {
		truth[jobs[i].ID] = &jobs[i]
	}
	var asked, within, young, youngWithin int
	var mine, aged float64
	n := 0
	for _, e := range forecast.Events(jobs) {
		e.Tell(&q, p)
		if n++; n < len(jobs) || random.IntN(20) != 0 {
			continue
		}
		waiting, _ := q.Len()
		if waiting == 0 {
			continue
		}
		k := random.IntN(waiting)
		for j := range q.Pending() {
			if k--; k >= 0 {
				continue
			}
			of := truth[j.ID]
			if of.Start <= e.At {
				break
			}
			question := forecast.Question{Request: j.Request, Now: e.At, Submit: e.At, Job: j.ID, Since: j.Since()}
			var a, whole forecast.Answer
			if !p.Forecast(&question, &a) {
				t.Fatalf("nothing is known of job %d", j.ID)
			}
			question.Since = 0
			p.Forecast(&question, &whole)
			given(&whole.Wait, float64(e.At-j.Since()))
			rest := float64(of.Start - e.At)
			asked++
			if rest <= a.Wait.Quantile(.9) {
				within++
			}
			if e.At-j.Since() < 600 {
				young++
				if rest <= a.Wait.Quantile(.9) {
					youngWithin++
				}
			}
			mine, aged = mine+a.Wait.CRPS(rest), aged+whole.Wait.CRPS(rest)
			break
		}
	}
	share := func(n, of int) float64 { return float64(n) / float64(of) }
	if asked < 300 || math.Abs(share(within, asked)-.9) > .05 || young < 50 || math.Abs(share(youngWithin, young)-.9) > .09 {
		t.Errorf("the .9 quantile held in %d of %d, and of those that had just come in %d of %d", within, asked, youngWithin, young)
	}
	if mine > .9*aged {
		t.Errorf("scores %.0f, and %.0f if only the age is known", mine/float64(asked), aged/float64(asked))
	}
}
