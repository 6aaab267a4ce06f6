package backtest

import (
	"errors"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/varq-project/varq/predictor/cluster/queue"
	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/forecast/score"
	"github.com/varq-project/varq/predictor/workload"
)

func newMethods(q *queue.Queue) []Method {
	var methods []Method
	for _, m := range Methods {
		methods = append(methods, m.New(Cluster{Queue: q}))
	}
	return methods
}

// TestJoin: methods that are scored one by one get the same scores as together.
func TestJoin(t *testing.T) {
	jobs := made(600, 4)
	o := Options{Quantiles: someQuantiles, Budgets: someBudgets, By: Splits}
	var q queue.Queue
	together, err := Run(jobs, &q, newMethods(&q), o)
	if err != nil {
		t.Fatal(err)
	}
	var apart []*Report
	for _, m := range Methods {
		var q queue.Queue
		r, err := Run(jobs, &q, []Method{m.New(Cluster{Queue: &q})}, o)
		if err != nil {
			t.Fatal(err)
		}
		apart = append(apart, r)
	}
	if diff := cmp.Diff(together, Join(apart)); diff != "" {
		t.Errorf("side by side (-) and one by one (+) differ:\n%s", diff)
	}
}

// TestParts: the parts of each split are sorted, sizes by number.
func TestParts(t *testing.T) {
	var q queue.Queue
	r, err := Run(made(600, 5), &q, nil, Options{By: Splits})
	if err != nil {
		t.Fatal(err)
	}
	var parts []string
	for _, p := range r.Parts {
		parts = append(parts, p.By+": "+p.Value)
	}
	want := []string{
		"queue: partition=long", "queue: partition=main", "month: 2020-09",
		"size: cpus=3-4", "size: nodes=2", "size: nodes=3-4", "size: nodes=5-8", "size: nodes=9-16", "size: nodes=17-32", "size: nodes=33-64",
	}
	if diff := cmp.Diff(want, parts); diff != "" {
		t.Error(diff)
	}
}

func TestProgress(t *testing.T) {
	var q queue.Queue
	enough := errors.New("enough")
	last := 0
	_, err := Run(made(2000, 6), &q, nil, Options{Progress: func(asked int) error {
		last = asked
		if asked > 1000 {
			return enough
		}
		return nil
	}})
	if !errors.Is(err, enough) || last > 1000+progressEvery {
		t.Errorf("the run ends in %v after %d jobs", err, last)
	}
}

func TestNoJobs(t *testing.T) {
	for _, jobs := range [][]workload.Job{nil, {{ID: 1, Submit: 5, Eligible: 5, End: 9, State: workload.Cancelled}}} {
		var q queue.Queue
		if _, err := Run(jobs, &q, nil, Options{}); !errors.Is(err, ErrNoJobs) {
			t.Errorf("%v: %v", jobs, err)
		}
	}
}

// constant is a Prediction whose quantiles and probabilities are one number.
type constant float64

func (c constant) Quantile(float64) float64 { return float64(c) }
func (c constant) Within(float64) float64   { return float64(c) }
func (c constant) Below(float64) float64    { return float64(c) }

// TestNonsense: a method whose predictions are not numbers, or impossible ones, gets a
// score.
func TestNonsense(t *testing.T) {
	for _, c := range []constant{-1, constant(math.NaN()), constant(math.Inf(1)), constant(math.Inf(-1)), 1e300} {
		var q queue.Queue
		method := fake{"nonsense", func(*forecast.Question) (wait, lower score.Prediction) { return c, c }}
		r, err := Run(made(300, 7), &q, []Method{method}, Options{Quantiles: someQuantiles, Budgets: someBudgets})
		if err != nil {
			t.Fatal(err)
		}
		s := r.Scores[0].Quantiles[0]
		if named := c == 1e300; named != (s.Coverage.Of > 0) || math.IsNaN(s.Pinball) || math.IsInf(s.Pinball, 0) {
			t.Errorf("%v: %+v", c, s)
		}
	}
}

// half is a Forecaster that answers every second question. It forecasts a wait of 0 with
// probability .8 and the lower bound promised.
type half struct {
	fake
	promised float64
	asked    int
}

func (h *half) Forecast(_ *forecast.Question, a *forecast.Answer) bool {
	h.asked++
	for i := range a.Wait {
		a.Wait[i], a.Lower[i] = .8, h.promised
	}
	return h.asked%2 == 0
}

// TestOf scores two Forecasters.
func TestOf(t *testing.T) {
	var q queue.Queue
	methods := []Method{
		Of(&half{fake: fake{name: "half"}, promised: .6}),
		Of(&half{fake: fake{name: "silent"}}),
	}
	r, err := Run(made(1000, 8), &q, methods, Options{Quantiles: someQuantiles, Budgets: someBudgets})
	if err != nil {
		t.Fatal(err)
	}
	s := r.Scores[0]
	if s.Method != "half" || math.Abs(s.Answered-.5) > .001 {
		t.Errorf("%s answers %v", s.Method, s.Answered)
	}
	answered := r.Jobs / 2
	if median, last := s.Quantiles[0].Plain, s.Quantiles[3].Plain; median.Of != answered || last.Of != 0 {
		t.Errorf("of %d quantiles, and beyond the grid of %d, want %d and 0", median.Of, last.Of, answered)
	}
	if p := s.Promises; p[0].Kept.Of != answered*len(someBudgets) || p[1].Kept.Of != 0 {
		t.Errorf("promises %+v", p)
	}
	if p := r.Scores[1].Promises; p != nil {
		t.Errorf("who promises nothing has %+v", p)
	}
}

// TestSummary compares the quotients with those computed by hand.
func TestSummary(t *testing.T) {
	report := func(mine, log, cell float64) *Report {
		score := func(name string, loss float64) Score {
			return Score{Method: name, Quantiles: []QuantileScore{{Quantile: .9, Pinball: loss}}}
		}
		return &Report{Part: Part{Scores: []Score{score("qbets", mine), score("rolling-log", log), score("rolling-cell", cell)}}}
	}
	got := Summarise([]*Report{report(50, 200, 100), report(40, 20, 30), report(1, 0, 2)})
	want := []Summary{
		{"qbets", []QuantileSummary{{.9, 1, 2, 2}}}, // .5 and 2
		{"rolling-log", []QuantileSummary{{.9, math.Sqrt2, 2, 2}}},
		{"rolling-cell", []QuantileSummary{{.9, math.Sqrt(1.5), 1.5, 2}}},
	}
	near := cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < 1e-12 })
	if diff := cmp.Diff(want, got, near); diff != "" {
		t.Error(diff)
	}
	alone := &Report{Part: Part{Scores: []Score{{Method: "qbets", Quantiles: []QuantileScore{{Quantile: .9, Pinball: 1}}}}}}
	if got := Summarise([]*Report{alone}); got[0].Quantiles[0].Logs != 0 || Summarise(nil) != nil {
		t.Errorf("without baselines: %+v", got)
	}
}
