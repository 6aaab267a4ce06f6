package studytest

import (
	"fmt"
	"hash/fnv"
	"path/filepath"
	"strings"
	"testing"

	"github.com/varq-project/varq/predictor/trial/study"
	"github.com/varq-project/varq/test/golden"
)

// Scenario has the names of the values of study.ValuesOf.
var Scenario = []string{"wait", "utilisation", "lost", "held", "offset", "exact", "promised", "granted", "cost", "prob", "kept", "kept low", "kept high"}

// Report compares the report of a study on made-up outcomes with the file testdata/NAME.md, NAME
// being the report's. The outcomes have a value for each of the measures.
func Report(t *testing.T, s study.Study, measures []string) {
	t.Helper()
	o := study.Options{}
	report := s.Report(o, madeUpOutcomes(s, o, measures))
	var text strings.Builder
	text.WriteString(report.Markdown())
	for _, f := range report.Figures {
		fmt.Fprintf(&text, "\n%s: %s; %s against %s; %q\n", f.Name, f.Title, f.Y, f.X, f.Labels)
		for _, series := range f.Series {
			fmt.Fprintf(&text, "%s: %.4g at %.4g\n", series.Name, series.Y, series.X)
		}
	}
	compare(t, report.Name, text.String())
}

// Markdown compares a report with the file testdata/NAME.md.
func Markdown(t *testing.T, name string, report study.Report) {
	t.Helper()
	compare(t, name, report.Markdown())
}

func compare(t *testing.T, name, text string) {
	t.Helper()
	file := filepath.Join("testdata", name+".md")
	if want := golden.Want(t, file, []byte(text)); text != string(want) {
		t.Errorf("the report is not %s; if it should be, run the test with -update and read it:\n%s", file, text)
	}
}

// madeUpOutcomes returns outcomes with every value of the study. A value depends on the
// names of the case and of the value, and on the seed. Every seventh case is missing.
func madeUpOutcomes(s study.Study, o study.Options, measures []string) []study.Outcome {
	var outcomes []study.Outcome
	for i, c := range s.Cases(o) {
		if i%7 == 3 {
			continue
		}
		values := study.Values{}
		for _, measure := range measures {
			hash := fnv.New32a()
			fmt.Fprint(hash, c.Name, c.Seed, measure)
			values[measure] = 1 + 9*float64(hash.Sum32())/(1<<32)
		}
		for _, share := range []string{"granted", "kept", "prob", "exact", "utilisation"} {
			if v, ok := values[share]; ok {
				values[share] = v / 10
			}
		}
		values["promised"] += 10 // more is promised than is kept
		for measure := range values {
			if strings.HasPrefix(measure, "n ") {
				values[measure] += 10
			}
		}
		values["kept low"] /= 20
		values["kept high"] = values["kept low"] + values["kept high"]/20
		outcomes = append(outcomes, study.Outcome{Case: c, Values: values})
	}
	return outcomes
}
