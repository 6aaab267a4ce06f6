package command

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/varq-project/varq/predictor/trial/backtest"
)

// TestEvaluateInterrupted: the log is not even read to its end.
func TestEvaluateInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var stderr bytes.Buffer
	env := Env{Stderr: &stderr, Elapsed: func() time.Duration { return elapsed }, Zone: time.UTC}
	ev := &evaluation{
		paths:   []string{filepath.Join("testdata", "log.swf")},
		makers:  backtest.Methods,
		options: backtest.Options{Quantiles: []float64{.5}, Budgets: []int64{60}},
	}
	if _, err := env.runEvaluation(ctx, ev); !errors.Is(err, errInterrupted) || stderr.Len() > 0 {
		t.Errorf("an interrupted command ends in %v\n%s", err, &stderr)
	}
}

// TestEvaluateJSON: what scripts read has what people read.
func TestEvaluateJSON(t *testing.T) {
	log := "--trace=" + filepath.Join("testdata", "log.swf")
	var answer struct {
		Seconds float64
		Logs    []struct {
			Source              string
			Procs, Warmup, Jobs int
			Scores              []backtest.Score
			Parts               []backtest.Part
		}
		Summary []backtest.Summary
	}
	decoder := json.NewDecoder(bytes.NewReader(varq(t, "evaluate", log, "--by=size", "--methods=rolling-log,binomial-cell", "--json")))
	if err := decoder.Decode(&answer); err != nil {
		t.Fatal(err)
	}
	if answer.Seconds != elapsed.Seconds() || len(answer.Logs) != 1 || len(answer.Summary) != 2 {
		t.Fatalf("%+v", answer)
	}
	l := answer.Logs[0]
	if l.Source != "log.swf" || l.Procs != 64 || l.Warmup != 60 || l.Jobs != 540 || len(l.Scores) != 2 || len(l.Parts) != 7 {
		t.Errorf("%+v", l)
	}
	for _, s := range l.Scores {
		if s.Jobs != 540 || len(s.Quantiles) != 4 || len(s.Budgets) != 7 || len(s.Months) != 1 || len(s.Reliability) == 0 {
			t.Errorf("%+v", s)
		}
	}
	if best := answer.Summary[0].Quantiles[0]; best.Quantile != .5 || best.Logs != 1 || best.Mean < 1 {
		t.Errorf("%+v", best)
	}
}
