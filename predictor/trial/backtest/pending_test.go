package backtest

import (
	"math"
	"slices"
	"testing"

	"github.com/varq-project/varq/predictor/cluster/queue"
	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/forecast/score"
)

// TestNoons: each day has one, and none is missed or named twice.
func TestNoons(t *testing.T) {
	const noon = 12 * 3600
	var got []int64
	for _, span := range [][2]int64{{0, noon - 1}, {noon - 1, noon}, {noon, noon + 5}, {noon + 5, 3*day + noon}, {3*day + noon, 4 * day}} {
		for at := range noons(noon, span[0], span[1]) {
			got = append(got, at)
		}
	}
	if want := []int64{noon, day + noon, 2*day + noon, 3*day + noon}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestGiven: the distribution of a rest is that of the waits that were longer, from the age on.
func TestGiven(t *testing.T) {
	r := newRolling()
	for wait := range uint32(10) {
		r.add(100 * wait)
	}
	p := given(r, 500) // 600, 700, 800 and 900 are longer
	for _, c := range []struct{ q, quantile float64 }{{.25, 100}, {.5, 200}, {.75, 300}, {1, 400}} {
		if got := p.Quantile(c.q - .01); math.Abs(got-c.quantile) > 1e-9 {
			t.Errorf("the %v quantile is %v, want %v", c.q, got, c.quantile)
		}
		if got := p.Within(c.quantile); math.Abs(got-c.q) > 1e-9 {
			t.Errorf("within %v s: %v, want %v", c.quantile, got, c.q)
		}
		if got := p.Below(c.quantile); math.Abs(got-(c.q-.25)) > 1e-9 {
			t.Errorf("in less than %v s: %v, want %v", c.quantile, got, c.q-.25)
		}
	}
	if p.Below(-1) != 0 || p.Within(-1) != 0 {
		t.Error("a rest of less than nothing")
	}
	// nothing is known but the age
	if old := given(r, 2000); old.Quantile(.5) != 2000 || old.Within(2000) != .5 || old.Below(6000) != .75 {
		t.Errorf("of an age beyond all: %v, %v", old.Quantile(.5), old.Within(2000))
	}
	if none := given(newRolling(), 500); none.Quantile(.5) != 500 || none.Within(500) != .5 {
		t.Errorf("where no wait is known: %v, %v", none.Quantile(.5), none.Within(500))
	}
	if given(r, 0) != score.Prediction(r) || given(nil, 5) != nil {
		t.Error("a job of no age")
	}
}

// TestPending: at the time of day, and at no other, each job is asked about that waits and starts
// later, as one that waits since then.
func TestPending(t *testing.T) {
	jobs := made(5000, 3)
	at := int64(7*3600 + 60*30)
	asked := map[int64]map[int64]bool{} // by time
	check := fake{"check", func(q *forecast.Question) (wait, lower score.Prediction) {
		if q.Now%day != at || q.Submit != q.Now || asked[q.Now][q.Job] {
			t.Fatalf("asked %+v", q)
		}
		if asked[q.Now] == nil {
			asked[q.Now] = map[int64]bool{}
		}
		asked[q.Now][q.Job] = true
		if j := &jobs[q.Job-1]; q.Since != j.Since() {
			t.Errorf("job %d waits since %d, not %d", q.Job, j.Since(), q.Since)
		}
		return knowing().Predict(q)
	}}
	var q queue.Queue
	report, err := Run(jobs, &q, []Method{check}, Options{Pending: &at, Quantiles: someQuantiles, Budgets: someBudgets})
	if err != nil {
		t.Fatal(err)
	}
	want, rests := 0, 0.
	for time, of := range asked {
		for i := range jobs {
			if j := &jobs[i]; j.Start > time && j.Since() <= time {
				want, rests = want+1, rests+float64(j.Start-time)
				if !of[j.ID] {
					t.Errorf("not asked about job %d at %d", j.ID, time)
				}
			}
		}
	}
	if report.Jobs != want || want == 0 || math.Abs(report.MeanWait-rests/float64(want)) > 1e-6 {
		t.Errorf("%d jobs with a mean of %v s, want %d with %v s", report.Jobs, report.MeanWait, want, rests/float64(want))
	}
}
