package flows

import (
	"fmt"
	"iter"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/varq-project/varq/predictor/cluster/sched"
	"github.com/varq-project/varq/predictor/trial/study"
	"github.com/varq-project/varq/predictor/trial/study/flows/graph"
	"github.com/varq-project/varq/test/studytest"
)

func TestReplays(t *testing.T) { studytest.Replays(t, Study{}) }

// TestReport compares the report of made-up values with the file in testdata.
func TestReport(t *testing.T) {
	var measures []string
	for _, kind := range []string{everyShape, shapes[0].name, shapes[1].name, shapes[2].name, shapes[3].name} {
		measures = append(measures, number(kind))
		for m := range graph.Methods {
			for _, level := range graph.Levels {
				measures = append(measures, within(kind, m, level))
			}
		}
	}
	for _, level := range graph.Levels {
		measures = append(measures, promised(level), kept(level))
		for m := range graph.Methods {
			measures = append(measures, loss(m, level))
		}
	}
	studytest.Report(t, Study{}, measures)
}

// Each job waits for jobs before it, and a user's jobs are taken in their order.
func TestDraw(t *testing.T) {
	var jobs []sched.Job
	for i := range int64(400) {
		jobs = append(jobs, sched.Job{ID: i, Submit: 1000 * i, Procs: 1, Limit: 100 + i, Run: 50, User: int32(i % 4)})
	}
	flows, kinds := draw(jobs, 10, 1)
	seen := map[string]bool{}
	for i, f := range flows {
		seen[kinds[i]] = true
		if f.Begin < 1000*99 || f.Begin >= 1000*360 || i > 0 && f.Begin <= flows[i-1].Begin {
			t.Errorf("flow %d begins at %d", i, f.Begin)
		}
		s := shapes[slices.IndexFunc(shapes, func(s shape) bool { return s.name == kinds[i] })]
		if len(f.Jobs) != s.n || len(f.After) != s.n || len(f.After[0]) != 0 {
			t.Fatalf("%s: %d jobs", s.name, len(f.Jobs))
		}
		for k := 1; k < s.n; k++ {
			if len(f.After[k]) == 0 || !slices.IsSorted(f.After[k]) || slices.Max(f.After[k]) >= k || f.Jobs[k].ID != f.Jobs[k-1].ID+4 {
				t.Errorf("%s: job %d is %d, after %v", s.name, k, f.Jobs[k].ID, f.After[k])
			}
		}
		limits := f.Longest(func(k int) float64 { return float64(f.Jobs[k].Limit) })
		if within := float64(f.Within); within < .2*limits-1 || within > 2*limits {
			t.Errorf("%s: wanted within %v, limits %v", s.name, within, limits)
		}
	}
	if len(seen) != len(shapes) {
		t.Errorf("only %v", seen)
	}
	if flows, _ := draw(jobs[:100], 10, 1); flows != nil {
		t.Errorf("%d flows of too few jobs", len(flows))
	}
}

// A promise has the highest probability that the forecast reaches.
func TestValues(t *testing.T) {
	e := graph.Experiment{Flows: []graph.Flow{{Within: 100}, {Within: 50}}}
	o := []graph.Outcome{{Flow: 0, Took: 80, Prob: .93}, {Flow: 1, Took: 80, Prob: .76}, {Flow: 0, Took: 80, Prob: .2}}
	for i := range o {
		o[i].Quantiles[graph.Told] = [4]float64{80, 90, 100, math.Inf(1)}
		o[i].Quantiles[graph.Sum] = [4]float64{40, 80, 90, 100}
	}
	v := valuesOf(&e, []string{shapes[0].name, shapes[2].name}, o)
	for name, want := range map[string]float64{
		number(everyShape): 3, number(shapes[0].name): 2, number(shapes[2].name): 1, number(shapes[1].name): 0,
		promised(.9): 1, kept(.9): 1, promised(.75): 1, kept(.75): 0, promised(.5): 0, promised(.95): 0,
		within(everyShape, graph.Told, .5): 3, within(everyShape, graph.Sum, .5): 0, within(shapes[0].name, graph.Sum, .75): 2,
		loss(graph.Told, .5): 0, loss(graph.Sum, .5): 3 * .5 * 40, loss(graph.Told, .95): 3 * .05 * (longest - 80),
	} {
		if diff := cmp.Diff(fmt.Sprintf("%.6g", want), fmt.Sprintf("%.6g", v[name])); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// oneUser are small logs whose jobs are of one user, and run on few nodes.
type oneUser struct{ studytest.Logs }

func (l oneUser) Open(name string) (iter.Seq2[sched.Job, error], int32, error) {
	jobs, procs, err := l.Logs.Open(name)
	return func(yield func(sched.Job, error) bool) {
		for job, err := range jobs {
			job.User, job.Procs, job.Submit = 1, 1+job.Procs/20, 50*job.Submit
			if !yield(job, err) {
				return
			}
		}
	}, procs, err
}

// What is promised is a part of what is forecast, and what is kept is a part of that.
func TestRun(t *testing.T) {
	v, err := Study{}.Run(study.Options{Traces: oneUser{}}, study.Case{Name: logs[0], Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	all, some := v[number(everyShape)], 0.
	for _, s := range shapes {
		some += v[number(s.name)]
	}
	if all < 20 || some != all || v[within(everyShape, graph.Told, .95)] > all {
		t.Errorf("%v flows, by shapes %v: %v", all, some, v)
	}
	n := 0.
	for _, level := range graph.Levels {
		if v[kept(level)] > v[promised(level)] {
			t.Errorf("%v: %v", level, v)
		}
		n += v[promised(level)]
	}
	if n == 0 || n > all {
		t.Errorf("%v of %v are promised", n, all)
	}
}
