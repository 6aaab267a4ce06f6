package backtest

import (
	"math"
	"testing"

	"github.com/varq-project/varq/predictor/cluster/queue"
	"github.com/varq-project/varq/predictor/workload"
)

// flowJob returns a job of a user's that waits and runs for some seconds.
func flowJob(id int64, user string, submit, wait, run int64) workload.Job {
	return workload.Job{
		ID: id, Submit: submit, Start: submit + wait, End: submit + wait + run, State: workload.Completed,
		Request: workload.Request{User: user, Size: workload.Size{Nodes: 1, CPUs: 1}, Limit: 3600},
	}
}

// Jobs that are submitted together are a stage, and one soon after its end begins the next.
func TestFlowsOf(t *testing.T) {
	const epoch = 1_000_000
	jobs := []workload.Job{
		flowJob(1, "a", epoch, 10, 100), flowJob(2, "a", epoch+50, 10, 300), // end at 110 and 360
		flowJob(3, "b", epoch+200, 0, 10),
		flowJob(4, "a", epoch+400, 20, 80),   // a stage after these
		flowJob(5, "a", epoch+1200, 0, 10),   // too late
		flowJob(6, "a", epoch+1205, 0, 1000), // together with it
		flowJob(7, "a", epoch+1500, 0, 10),   // while it runs
		flowJob(8, "a", epoch+1600, 0, 10),
		{ID: 9, Submit: epoch, Request: workload.Request{User: "a"}}, // never starts
	}
	flows := flowsOf(jobs)
	if len(flows) != 2 || len(flows[1].Stages) != 2 || len(flows[1].Stages[0]) != 2 || flows[1].length() != 310+100 || flows[7].length() != 20 {
		t.Fatalf("%+v", flows)
	}
}

// A flow of jobs that all wait and run alike is forecast as the sum of its stages.
func TestFlows(t *testing.T) {
	var jobs []workload.Job
	for id := int64(1); id < 3000; id += 3 {
		at := 1_000_000 + id*1000
		jobs = append(jobs, flowJob(id, "a", at, 60, 600), flowJob(id+1, "a", at, 60, 600), flowJob(id+2, "a", at+700, 60, 600))
	}
	for _, m := range Flows {
		var q queue.Queue
		r, err := Run(jobs, &q, []Method{m.New(Cluster{Queue: &q})}, Options{Flows: true, Quantiles: []float64{.5, .9}, Budgets: []int64{600}})
		if err != nil {
			t.Fatal(err)
		}
		if s := r.Scores[0]; r.Jobs != 900 || s.Answered < .99 || s.Quantiles[0].Pinball > 60 || math.Abs(r.MeanWait-1320) > 1 {
			t.Errorf("%s: %d flows of %v s, %+v", m.Name, r.Jobs, r.MeanWait, s.Quantiles[0])
		}
	}
}
