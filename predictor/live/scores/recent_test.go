package scores

import (
	"math"
	"path/filepath"
	"testing"

	"github.com/varq-project/varq/predictor/forecast/score"
	"github.com/varq-project/varq/predictor/workload"
)

// Each time is compared with the median of the last ones of its kind that came before, also those
// from before the file was opened.
func TestPastMedian(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.db")
	l := open(t, path)
	sum := func(l *Store) (all score.Sums) {
		for _, s := range mustScored(t, l, Query{}) {
			all.Plus(s)
		}
		return all
	}
	job := int64(0)
	wait := func(l *Store, seconds int64) {
		job++
		f := forecastOf(job, 0, "blend")
		mustScore(t, l, Changes{Begun: []Forecast{f}, Started: []Outcome{started(&f, seconds)}})
	}
	wait(l, 1000)
	if s := sum(l); s.Near[score.SaidPast].Forecasts != 0 || s.Near[score.SaidAtOnce].Forecasts != 1 || s.Near[score.SaidMedian].Forecasts != 1 {
		t.Fatalf("of the first wait: %+v", s.Near)
	}
	// the rest of a wait is another kind
	rest := forecastOf(-job, 0, "pending")
	mustScore(t, l, Changes{Begun: []Forecast{rest}, Started: []Outcome{started(&rest, 5)}})
	l = open(t, path)
	wait(l, 1000) // as the median
	wait(l, 1060)
	s := sum(l).Near[score.SaidPast]
	if want := math.Log(1061. / 1001); s.Forecasts != 2 || s.Minute != 2 || s.Double != 2 || math.Abs(s.LogError-want) > 1e-9 {
		t.Errorf("the median of the past is off by %+v", s)
	}
	for range mostRecent { // the old ones are forgotten
		wait(l, 0)
	}
	before := sum(l).Near[score.SaidPast]
	wait(l, 0)
	if after := sum(l).Near[score.SaidPast]; after.Minute != before.Minute+1 || after.LogError != before.LogError {
		t.Errorf("%+v after %+v", after, before)
	}
	if left, err := l.UnscoredJobs(t.Context()); err != nil || len(left) != 0 {
		t.Errorf("%v, %v", left, err)
	}
}

func TestKindOf(t *testing.T) {
	job, sight := Outcome{Submission: workload.Submission{ID: 3}}, Outcome{Submission: workload.Submission{ID: -3}}
	for _, c := range []struct {
		o     Outcome
		ofEnd bool
		want  string
	}{{job, false, "wait"}, {job, true, "end"}, {sight, false, "rest"}} {
		if got := kindOf(c.o, c.ofEnd); got != c.want {
			t.Errorf("%+v is a %s, want a %s", c.o, got, c.want)
		}
	}
}

// What is remembered is bounded.
func TestRecentIsBounded(t *testing.T) {
	r := recent{}
	for i := range int64(2 * mostRecent) {
		r.add("wait", i)
	}
	if median, ok := r.median("wait"); len(r["wait"]) != mostRecent || !ok || median != 1.5*mostRecent-1 {
		t.Errorf("%d are remembered, the median %v", len(r["wait"]), median)
	}
}
