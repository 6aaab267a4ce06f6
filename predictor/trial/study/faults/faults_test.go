package faults

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/varq-project/varq/predictor/logs/trace"
	"github.com/varq-project/varq/predictor/trial/study"
	"github.com/varq-project/varq/predictor/workload"
	"github.com/varq-project/varq/test/archive"
	"github.com/varq-project/varq/test/thorough"
)

// On Los Alamos' failures the forecasts are better than rates of each node where there are many,
// and never worse than a constant, also on systems on which nothing was chosen; and as many nodes
// fail as were expected to.
func TestLosAlamos(t *testing.T) {
	thorough.Only(t)
	o := study.Options{Traces: trace.Folder(archive.Folder(t))}
	archive.LosAlamos(t)
	for _, c := range []struct {
		system     string
		gain, over float64 // least, over a constant and over rates of each node
	}{
		{"20", .98, .2}, {"8", 0, 0}, {"12", 0, 0}, {"23", 0, 0}, // varq-lab study faults has all
	} {
		t.Run(c.system, func(t *testing.T) {
			t.Parallel()
			v, err := Study{}.Run(o, study.Case{Name: c.system, Seed: 1})
			if err != nil {
				t.Fatal(err)
			}
			if v["gain"] < c.gain || v["gain low"] <= 0 || v["over own low"] <= c.over || v["expected"] < .9 || v["expected"] > 1.1 {
				t.Errorf("%v", v)
			}
		})
	}
}

// The values of a case are those of their definitions, computed in another way.
func TestAgainstDefinition(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	o := study.Options{Failures: &study.NodeFailures{}}
	for i := range 40 {
		o.Failures.Nodes = append(o.Failures.Nodes, fmt.Sprint("n", i))
	}
	const days = 200
	failed := map[[2]int64]bool{} // day and node
	for at := int64(1e9); at < 1e9+days*study.Day; at += int64(40_000 * r.ExpFloat64()) {
		n := int(40 * r.Float64() * r.Float64())
		o.Failures.Failures = append(o.Failures.Failures, workload.Failure{Node: o.Failures.Nodes[n], Down: at})
		failed[[2]int64{(at - 1e9) / study.Day, int64(n)}] = true
	}
	v, err := Study{}.Run(o, study.Case{Name: ownNodes, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	first := int64(learns * days)
	before, after := 0., 0.
	for key := range failed {
		if key[0] < first {
			before++
		} else {
			after++
		}
	}
	if v["failed"] != after {
		t.Errorf("%g failed, want %g", v["failed"], after)
	}
	expected, count := 0., 0.
	for k := range len(riskEdges) - 1 {
		count += v[fmt.Sprint("days ", k)]
		expected += v[fmt.Sprint("days ", k)] * v[fmt.Sprint("said ", k)]
	}
	if count != 40*float64(days-first) || math.Abs(expected/after-v["expected"]) > 1e-9 {
		t.Errorf("%g node-days, and %g failures expected of %g: %g", count, expected, after, v["expected"])
	}
	if v["gain"] < .05 || v["own"] < .05 || math.Abs(v["gain"]-v["own"]-v["over own"]) > 1e-9 {
		t.Errorf("%v", v)
	}
	report := Study{}.Report(o, []study.Outcome{{Case: study.Case{Name: ownNodes, Seed: 1}, Values: v}})
	if text := report.Markdown(); !strings.Contains(text, "own nodes: over a frozen constant") || len(report.Figures) != 1 {
		t.Error(text)
	}
}

func TestErrors(t *testing.T) {
	short := study.Options{Failures: &study.NodeFailures{Nodes: []string{"a"}, Failures: []workload.Failure{{Node: "a", Down: 1}, {Node: "a", Down: 86401}}}}
	long := study.Options{Failures: &study.NodeFailures{Nodes: []string{"a"}, Failures: []workload.Failure{{Node: "a", Down: 1}, {Node: "a", Down: 1e13}}}}
	for want, o := range map[string]study.Options{
		"more than 100 years":     long,
		"70 are needed":           short,
		"this study replays real": {},
	} {
		if _, err := (Study{}).Run(o, Study{}.Cases(o)[0]); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if cases := (Study{}).Cases(study.Options{Quick: true}); len(cases) != len(quickSystems) || !slices.Contains(freshSystems, cases[1].Name) {
		t.Errorf("%v", cases)
	}
}
