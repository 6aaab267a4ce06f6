package study

import (
	"fmt"
	"hash/fnv"
	"path/filepath"
	"strings"
	"testing"

	"github.com/varq-project/varq/test/golden"
)

// measures has the names of the values of each study.
func measures(study string) []string {
	reserved := []string{"wait", "utilisation", "lost", "held", "offset", "exact", "promised", "granted", "cost", "prob", "kept", "kept low", "kept high"}
	switch study {
	case "smith":
		names := []string{"run", "limit", "last two", "predicted"}
		for _, kind := range (smithPolicy{backfill: withBackfill}).kinds() {
			for _, measure := range reserved {
				names = append(names, kind.name+" "+measure)
			}
		}
		return names
	default:
		return append(reserved, "wait without", "utilisation without")
	}
}

// madeUpOutcomes returns outcomes with every value of the study. A value depends on the
// names of the case and of the value, and on the seed. Every seventh case is missing.
func madeUpOutcomes(name string, s Study, o Options) []Outcome {
	var outcomes []Outcome
	for i, c := range s.Cases(o) {
		if i%7 == 3 {
			continue
		}
		values := Values{}
		for _, measure := range measures(name) {
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
		outcomes = append(outcomes, Outcome{c, values})
	}
	return outcomes
}

// TestReports compares the reports on made-up outcomes with files.
func TestReports(t *testing.T) {
	for name, s := range replaying {
		o := Options{}
		report := s.Report(o, madeUpOutcomes(name, s, o))
		var text strings.Builder
		text.WriteString(report.Markdown())
		for _, f := range report.Figures {
			fmt.Fprintf(&text, "\n%s: %s; %s against %s; %q\n", f.Name, f.Title, f.Y, f.X, f.Labels)
			for _, series := range f.Series {
				fmt.Fprintf(&text, "%s: %.4g at %.4g\n", series.Name, series.Y, series.X)
			}
		}
		file := filepath.Join("testdata", name+".md")
		if want := golden.Want(t, file, []byte(text.String())); text.String() != string(want) {
			t.Errorf("the report is not %s; if it should be, run the test with -update and read it:\n%s", file, &text)
		}
	}
}
