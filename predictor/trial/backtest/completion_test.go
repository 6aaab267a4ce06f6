package backtest

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/varq-project/varq/predictor/cluster/queue"
	"github.com/varq-project/varq/predictor/cluster/sched"
	"github.com/varq-project/varq/predictor/cluster/walltime"
	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/forecast/forecasttest"
	"github.com/varq-project/varq/predictor/forecast/score"
)

// The product's quantiles and probabilities are inverse to one another, and its promise of an end
// holds: it is never later than the certain one, and never more probable than it is.
func TestProduct(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	var past walltime.Predictor
	for i := range int64(100) {
		past.Learn(&sched.Job{ID: i, Submit: i, Start: i, End: i + int64(100*r.ExpFloat64()), Limit: 3600, User: 1})
	}
	run := past.Distribution(&sched.Job{Limit: 3600, User: 1}, 0)
	wait := forecasttest.Exponential(500)
	p := &product{wait, &run}
	for _, q := range []float64{.5, .9, .95} {
		at := p.Quantile(q)
		if back := p.Within(at); math.Abs(back-q) > .03 {
			t.Errorf("the %v quantile is %g, within which it ends with probability %.3f", q, at, back)
		}
		ended := 0
		const draws = 20_000
		for range draws {
			if wait.Quantile(r.Float64())+float64(run.Draw(r)) <= at {
				ended++
			}
		}
		if share := float64(ended) / draws; share < q {
			t.Errorf("the %v quantile covers %.3f", q, share)
		}
	}
}

// All methods forecast completions on the same log; those that add something to a wait add that.
func TestCompletions(t *testing.T) {
	jobs := made(1500, 11)
	var q queue.Queue
	c := Cluster{Queue: &q}
	asked, worse := 0, 0
	limit := Completions[4].New(c)
	wait := newBaseline("", eachCell, newRolling)
	check := fake{"check", func(question *forecast.Question) (end, lower score.Prediction) {
		mine, _ := wait.Predict(question)
		theirs, _ := limit.Predict(question)
		if mine != nil {
			asked++
			if theirs.Quantile(.9) != mine.Quantile(.9)+float64(question.Limit) || theirs.Within(1e5) != mine.Within(1e5-float64(question.Limit)) {
				worse++
			}
		}
		return theirs, nil
	}}
	methods := []Method{wait, limit, check}
	for _, m := range Completions {
		methods = append(methods, m.New(c))
	}
	report, err := Run(jobs, &q, methods, Options{Completion: true, Quantiles: someQuantiles, Budgets: someBudgets})
	if err != nil {
		t.Fatal(err)
	}
	if asked == 0 || worse > 0 {
		t.Errorf("%s is not a limit more than the wait in %d of %d cases", limit.Name(), worse, asked)
	}
	mean, n := 0., 0.
	for i := range jobs {
		if seconds, ok := Completion(&jobs[i]); ok {
			mean, n = mean+float64(seconds), n+1
		}
	}
	if mean /= n; !report.Completion || math.Abs(report.MeanWait/mean-1) > .2 {
		t.Errorf("the mean time until the end is %g, of all jobs %g", report.MeanWait, mean)
	}
	for _, s := range report.Scores[3:] {
		if s.Answered < .9 || s.Quantiles[0].Pinball <= 0 {
			t.Errorf("%s answers %.2f: %+v", s.Method, s.Answered, s.Quantiles[0])
		}
	}
	if first := report.Scores[3].Quantiles[0]; math.Abs(first.Coverage.Share-.5) > .07 {
		t.Errorf("the median covers %.3f", first.Coverage.Share)
	}
}
