package trajectory

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/varq-project/varq/predictor/cluster/limits"
	"github.com/varq-project/varq/predictor/workload"
)

// budgets forecasts a probability that grows with the wait allowed, and notes the candidates.
type budgets struct{ asked []workload.Candidate }

func (b *budgets) Forecast(_ workload.Request, _ int64, c []workload.Candidate, est []workload.Estimate) {
	b.asked = c
	for i := range c {
		est[i].Prob = float64(c[i].Budget) / 10_000
	}
}

// Within asks about a job that is eligible now, and keeps to the limits of a new promise.
func TestWithin(t *testing.T) {
	f := &budgets{}
	p := Planner{Forecaster: f, MaxHold: 2, Cluster: &limits.Cluster{Partitions: map[string]limits.Partition{
		"main": {Name: "main", Default: true, Up: true, MaxTime: 10_800, DefaultTime: 60, MaxNodes: limits.None, Nodes: []string{"a"}, TotalCPUs: 4},
	}}}
	r := Request{Job: workload.Request{Limit: 3600}, ID: 7, Now: 1_000_000, Prob: .5}
	got := p.Within(r, []int64{600, 3600, 7200, 7260})
	// the last is beyond MaxTime
	if diff := cmp.Diff([]float64{.06, .36, .72, 0}, got); diff != "" {
		t.Error(diff)
	}
	want := []workload.Candidate{
		{Submit: r.Now, Limit: 10_800, Budget: 7200, Job: 7}, {Submit: r.Now, Limit: 7200, Budget: 3600, Job: 7}, {Submit: r.Now, Limit: 4200, Budget: 600, Job: 7},
	}
	if diff := cmp.Diff(want, f.asked); diff != "" {
		t.Error(diff)
	}
	r.Job.Partition = "nosuch"
	if got := p.Within(r, []int64{600}); got[0] != 0 {
		t.Error(got)
	}
}
