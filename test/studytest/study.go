package studytest

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/varq-project/varq/predictor/trial/study"
	"github.com/varq-project/varq/test/thorough"
)

// Replays checks what holds of every study that replays logs.
func Replays(t *testing.T, s study.Study) {
	t.Helper()
	t.Run("third", func(t *testing.T) { third(t, s) })
	t.Run("missing", func(t *testing.T) { missing(t, s) })
	t.Run("no logs", func(t *testing.T) { noLogs(t, s) })
}

// third runs a third of the cases on small logs. Every run has the same values, and
// the report has only finite numbers although cases are missing.
func third(t *testing.T, s study.Study) {
	thorough.Only(t)
	o := study.Options{Quick: true, Seeds: 1, Traces: Logs{}}
	var outcomes []study.Outcome
	for i, c := range s.Cases(o) {
		if i%3 > 0 {
			continue
		}
		values, err := s.Run(o, c)
		if err != nil {
			t.Fatal(err)
		}
		if i%9 == 0 {
			again, err := s.Run(o, c)
			if diff := cmp.Diff(values, again); err != nil || diff != "" {
				t.Fatalf("%s: another outcome (%v):\n%s", c.Name, err, diff)
			}
		}
		outcomes = append(outcomes, study.Outcome{Case: c, Values: values})
	}
	report := s.Report(o, outcomes)
	if _, err := json.Marshal(report); err != nil {
		t.Error(err)
	}
	for _, hole := range []string{"NaN", "Inf", "TODO"} {
		if text := report.Markdown(); strings.Contains(text, hole) {
			t.Errorf("the report has %s:\n%s", hole, text)
		}
	}
	checkFigures(t, report)
}

func checkFigures(t *testing.T, r study.Report) {
	t.Helper()
	for _, f := range r.Figures {
		for _, s := range f.Series {
			if points := max(len(f.Labels), len(s.X)); len(s.Y) != points || points == 0 {
				t.Errorf("%s: %s has %d values at %d places", f.Name, s.Name, len(s.Y), points)
			}
		}
	}
}

// missing checks that the report is about the other cases if a case is missing.
func missing(t *testing.T, s study.Study) {
	o := study.Options{Seeds: 1, Quick: true, Traces: Logs{}}
	c := s.Cases(o)[0]
	values, err := s.Run(o, c)
	if err != nil {
		t.Fatal(err)
	}
	for _, outcomes := range [][]study.Outcome{nil, {{Case: c, Values: values}}} {
		report := s.Report(o, outcomes)
		if text := report.Markdown(); strings.Contains(text, "NaN") {
			t.Errorf("%d outcomes: the report has NaN:\n%s", len(outcomes), text)
		}
		if _, err := json.Marshal(report); err != nil {
			t.Errorf("%d outcomes: %v", len(outcomes), err)
		}
	}
}

// noLogs runs the study without logs, with a broken log, and a case that it has not.
func noLogs(t *testing.T, s study.Study) {
	c := s.Cases(study.Options{Quick: true})[0]
	if _, err := s.Run(study.Options{Quick: true}, c); !errors.Is(err, study.ErrNoTraces) {
		t.Errorf("without logs: %v", err)
	}
	if _, err := s.Run(study.Options{Traces: brokenLogs{}}, c); !errors.Is(err, errBroken) {
		t.Errorf("with a broken log: %v", err)
	}
	if _, err := s.Run(study.Options{Traces: Logs{}}, study.Case{Name: "no such case"}); err == nil || !strings.Contains(err.Error(), "no such case") {
		t.Errorf("a case that there is not: %v", err)
	}
}
