package predictor

import (
	"math"
	"testing"

	"github.com/varq-project/varq/predictor/cluster/rollout"
	"github.com/varq-project/varq/predictor/delay"
	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/workload"
)

// TestByClock: starts that are expected when the job would run into a window are expected as much
// after its end.
func TestByClock(t *testing.T) {
	const submit, mean = 1_000_000, 1800.
	windows := rollout.Windows{{From: submit - 500, To: submit - 100}, {From: submit + 1200, To: submit + 9200}, {From: submit + 20_000, To: submit + 21_000}}
	var a forecast.Answer
	for i := range delay.Points {
		a.Wait[i] = 1 - math.Exp(-delay.At(i)/mean)
		a.Lower[i] = a.Wait[i] / 2
	}
	before := a
	byClock(&a, windows[:1], &forecast.Question{Now: submit - 200, Submit: submit})
	if a.Wait != before.Wait || a.Lower != before.Lower {
		t.Error("a window that is over when the job is submitted changes something")
	}
	q := forecast.Question{Now: submit - 200, Submit: submit}
	q.Limit = 101
	windows[1].From += 100
	windows[2].From += 100
	byClock(&a, windows, &q)
	for i := range delay.Points {
		serving := delay.At(i)
		switch at := serving; {
		case at > 21_000:
			serving -= 9000
		case at > 20_000:
			serving = 12_000
		case at > 9200:
			serving -= 8000
		case at > 1200:
			serving = 1200
		}
		if got, want := a.Wait[i], before.Wait.Within(serving); got != want || a.Lower[i] != before.Lower.Within(serving) {
			t.Errorf("within %v s with probability %v, want %v", delay.At(i), got, want)
		}
	}
}

// TestServed: of a job's wait counts the time in which it would not have run into a window.
func TestServed(t *testing.T) {
	windows := rollout.Windows{{From: 550, To: 600}, {From: 950, To: 1000}}
	for _, c := range []struct{ eligible, start, want int64 }{{100, 400, 300}, {100, 700, 500}, {550, 650, 50}, {100, 1000, 700}, {0, 700, 550}} {
		j := workload.Job{Submit: 50, Eligible: c.eligible, Start: c.start}
		j.Limit = 51
		before := j
		if got, ok := served(&j, windows).Wait(); !ok || got != c.want || j.Start != before.Start || j.Eligible != before.Eligible {
			t.Errorf("from %d to %d: %d s, want %d", c.eligible, c.start, got, c.want)
		}
	}
}
