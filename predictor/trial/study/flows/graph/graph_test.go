package graph

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/varq-project/varq/predictor/cluster/sched"
	"github.com/varq-project/varq/predictor/workload"
)

func request(j *sched.Job) workload.Request {
	return workload.Request{Size: workload.Size{Nodes: j.Procs, CPUs: j.Procs}, Limit: j.Limit}
}

func ran(seconds int64) sched.Job { return sched.Job{Procs: 1, Limit: 2 * seconds, Run: seconds} }

var diamond = [][]int{nil, {0}, {0}, {1, 2}}

// The longest path is of jobs that wait for one another.
func TestLongest(t *testing.T) {
	f := Flow{Jobs: make([]sched.Job, 4), After: diamond}
	if got := f.Longest(func(i int) float64 { return []float64{1, 10, 100, 1000}[i] }); got != 1101 {
		t.Errorf("got %v", got)
	}
}

// On an idle cluster, a flow takes as long as its longest path, and the forecasts learn from others
// like it: its jobs run for 100 or 200 s each.
func TestIdle(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	var jobs []sched.Job
	for i := range int64(500) {
		j := ran(100 + 100*random.Int64N(2))
		j.ID, j.Submit = 1+i, 400*i
		jobs = append(jobs, j)
	}
	e := Experiment{Procs: 8, Request: request, Seed: 1}
	for i := range int64(60) {
		f := Flow{Begin: 100_000 + 1000*i, After: diamond, Within: 1000}
		for range diamond {
			f.Jobs = append(f.Jobs, ran(100+100*random.Int64N(2)))
		}
		e.Flows = append(e.Flows, f)
	}
	outcomes := e.Run(jobs)
	if len(outcomes) != len(e.Flows) {
		t.Fatalf("%d outcomes", len(outcomes))
	}
	var covered [Methods]int
	for i, o := range outcomes {
		f := &e.Flows[o.Flow]
		if want := f.Longest(func(i int) float64 { return float64(f.Jobs[i].Run) }); o.Flow != i || o.Took != want {
			t.Errorf("flow %d took %v, want %v", o.Flow, o.Took, want)
		}
		for m := range Methods {
			if !slices.IsSorted(o.Quantiles[m][:]) || o.Quantiles[m][0] < 200 || m != Sum && o.Quantiles[m][2] > 900 {
				t.Errorf("method %d: %v", m, o.Quantiles[m])
			}
			if o.Took <= o.Quantiles[m][2] {
				covered[m]++
			}
		}
		if o.Prob < .95 {
			t.Errorf("within 1000 s with probability %v", o.Prob)
		}
	}
	for m, n := range covered {
		if n < 50 {
			t.Errorf("method %d: %d of 60 have ended by the .9 quantile", m, n)
		}
	}
	if diff := cmp.Diff(outcomes, e.Run(jobs)); diff != "" {
		t.Errorf("run again: %s", diff)
	}
}

// A job does not start before those have ended for which it waits, on a busy cluster either.
func TestBusy(t *testing.T) {
	jobs := []sched.Job{{ID: 1, Submit: 0, Procs: 4, Limit: 500, Run: 500}, {ID: 2, Submit: 50, Procs: 4, Limit: 300, Run: 300}, {ID: 3, Submit: 5000, Procs: 1, Limit: 10, Run: 10}}
	e := Experiment{Procs: 4, Request: request, Flows: []Flow{{Begin: 600, Jobs: []sched.Job{ran(50), ran(10)}, After: [][]int{nil, {0}}, Within: 100}}}
	o := e.Run(jobs)
	// job 2 has all processors until 800
	if len(o) != 1 || o[0].Took != 200+50+10 {
		t.Errorf("%+v", o)
	}
}
