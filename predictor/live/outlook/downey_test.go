package outlook

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/varq-project/varq/predictor/forecast/expert"
	"github.com/varq-project/varq/predictor/forecast/qbets"
	"github.com/varq-project/varq/predictor/workload"
)

// TestDowney: Downey's predictors answer once enough is known, as long as the cluster is not down.
func TestDowney(t *testing.T) {
	o := New(Options{Confidence: .95, Now: func() int64 { return now }})
	random := rand.New(rand.NewPCG(1, 1))
	var jobs []workload.Job
	free := int64(now - 60*day)
	// one after the other, on one processor
	for at := free; at < now; at += 1 + random.Int64N(4000) {
		j := workload.Job{
			ID: at, Request: workload.Request{User: fmt.Sprint("user", random.IntN(17)), Partition: "main", Size: workload.Size{Nodes: 1, CPUs: 1}, Limit: 7200},
			Submit: at, Eligible: at, Start: max(free, at), State: workload.Completed,
		}
		free = j.Start + 1 + random.Int64N(3000)
		j.End = free
		jobs = append(jobs, j)
	}
	r := jobs[0].Request
	if _, ok := o.Downey(r); ok {
		t.Error("there is an answer before a model serves")
	}
	m := o.NewModel(nil)
	if err := m.Learn(t.Context(), jobs, func(int64) {}); err != nil {
		t.Fatal(err)
	}
	m.Serve()
	a, ok := o.Downey(r)
	if median := a.Wait.Quantile(.5); !ok || a.Sample < 30 || median > 3*3600 || a.Lower[100] != 0 {
		t.Errorf("%v: half the jobs start within %v s, from %v waits", ok, median, a.Sample)
	}
	unknown := r
	unknown.Partition = "gpu"
	if _, ok := o.Downey(unknown); ok {
		t.Error("there is an answer for a partition of which nothing is known")
	}
	m.Hear(expert.News{Outages: []qbets.Outage{{Partition: "main", From: now - 60, Reason: "partition main is down"}}})
	if a, ok := o.Downey(r); ok || a.Down != "partition main is down" {
		t.Errorf("during an outage: %v %q", ok, a.Down)
	}
}
