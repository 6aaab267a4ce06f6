package evaluate

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/cmd/varq/table"
	"github.com/varq-project/varq/predictor/forecast/score"
	"github.com/varq-project/varq/predictor/plot"
	"github.com/varq-project/varq/predictor/trial/backtest"
	"github.com/varq-project/varq/test/clitest"
)

// TestEvaluateInterrupted: an interrupt ends the command while it reads the log.
func TestEvaluateInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var stderr bytes.Buffer
	env := cli.Env{Stderr: &stderr, Elapsed: func() time.Duration { return clitest.Elapsed }, Zone: time.UTC}
	ev := &evaluation{
		paths:   []string{clitest.Log()},
		makers:  backtest.Methods,
		options: backtest.Options{Quantiles: []float64{.5}, Budgets: []int64{60}},
	}
	if _, err := ev.runAll(ctx, &env); !errors.Is(err, cli.ErrInterrupted) || stderr.Len() > 0 {
		t.Errorf("an interrupted command ends in %v\n%s", err, &stderr)
	}
}

// TestEvaluateJSON: the JSON has everything that the tables have.
func TestEvaluateJSON(t *testing.T) {
	log := "--trace=" + clitest.Log()
	var answer struct {
		Seconds float64
		Logs    []struct {
			Source              string
			Procs, Warmup, Jobs int
			Scores              []backtest.Score
			Trivial             []score.Near
			Parts               []backtest.Part
		}
		Summary []backtest.Summary
	}
	decoder := json.NewDecoder(bytes.NewReader(clitest.Run(t, New, log, "--by=size", "--methods=rolling-log,binomial-cell", "--json")))
	if err := decoder.Decode(&answer); err != nil {
		t.Fatal(err)
	}
	if answer.Seconds != clitest.Elapsed.Seconds() || len(answer.Logs) != 1 || len(answer.Summary) != 2 {
		t.Fatalf("%+v", answer)
	}
	l := answer.Logs[0]
	if l.Source != "log.swf" || l.Procs != 64 || l.Warmup != 60 || l.Jobs != 540 || len(l.Scores) != 2 || len(l.Parts) != 7 {
		t.Errorf("%+v", l)
	}
	if len(l.Trivial) != 2 || l.Trivial[0].Forecasts != 540 {
		t.Errorf("%+v", l.Trivial)
	}
	for _, s := range l.Scores {
		if s.Jobs != 540 || len(s.Quantiles) != 4 || len(s.Budgets) != 7 || len(s.Months) != 1 || len(s.Reliability) == 0 || s.Near.Forecasts != 540 {
			t.Errorf("%+v", s)
		}
	}
	if best := answer.Summary[0].Quantiles[0]; best.Quantile != .5 || best.Logs != 1 || best.Mean < 1 {
		t.Errorf("%+v", best)
	}
}

// TestManual finds every column and every method in varq-lab-evaluate(1).
func TestManual(t *testing.T) {
	clitest.Explained(t, "varq-lab-evaluate", table.Names(quantileColumns(&backtest.Part{}, 0)[1:]), table.Names(promiseColumns()[1:]), table.Names(nearColumns()[1:]), strings.Join(append(names(backtest.Methods), names(backtest.Completions)...), ","))
}

// TestCoverage: the picture has the months with jobs enough.
func TestCoverage(t *testing.T) {
	score := func(method string) backtest.Score {
		return backtest.Score{
			Method: method, Quantiles: []backtest.QuantileScore{{Quantile: .5}},
			Months: []backtest.Month{
				{Month: "2024-01", Jobs: backtest.BusyMonth - 1, Coverage: []float64{.1}},
				{Month: "2024-02", Jobs: backtest.BusyMonth, Coverage: []float64{.4}},
			},
		}
	}
	got := coverage("a log", []backtest.Score{score("one"), score("two")})
	want := &plot.Coverage{
		Title: "a log", Quantiles: []float64{.5}, Months: []string{"2024-02"}, Least: backtest.BusyMonth,
		Methods: []plot.Covered{{Name: "one", Months: [][]float64{{.4}}}, {Name: "two", Months: [][]float64{{.4}}}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
