package trajectory_test

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/varq-project/varq/predictor/promise/trajectory"
	"github.com/varq-project/varq/predictor/workload"
)

// exponential is a forecaster for a cluster on which waits are exponentially
// distributed with a mean of the value in seconds, whatever the job.
type exponential float64

func (mean exponential) Forecast(_ workload.Request, _ int64, candidates []workload.Candidate, estimates []workload.Estimate) {
	for i, c := range candidates {
		budget := float64(c.Budget)
		prob := 1 - math.Exp(-budget/float64(mean))
		estimates[i] = workload.Estimate{Prob: prob, Held: budget - float64(mean)*prob, Sample: 1000}
	}
}

// A user wants a job of four nodes and an hour to run at 17:00 with probability .9. The mean
// wait is half an hour.
func ExamplePlanner_Plan() {
	planner := trajectory.Planner{Forecaster: exponential(30 * 60)}
	deadline := time.Date(2026, 3, 3, 17, 0, 0, 0, time.UTC)
	answer := planner.Plan(trajectory.Request{
		Job:       workload.Request{Size: workload.Size{Nodes: 4, CPUs: 64}, Limit: 3600},
		Now:       deadline.Add(-8 * time.Hour).Unix(),
		Deadline:  deadline.Unix(),
		HoldUntil: deadline.Unix(), // the work starts at the deadline, not before
		Prob:      .9,
	})
	if answer.Refusal != nil {
		fmt.Println("no promise:", answer.Refusal.Reason)
		return
	}
	plan := answer.Plan
	fmt.Println("eligible at", time.Unix(plan.Begin, 0).UTC().Format("15:04:05"))
	fmt.Println("time limit", time.Duration(plan.Limit)*time.Second)
	fmt.Printf("probability %.3f\n", plan.Estimate.Prob)
	fmt.Printf("holds %.1f node-hours before the work, at most %.1f\n", plan.Expected.NodeSeconds/3600, plan.Worst.NodeSeconds/3600)
	// Output:
	// eligible at 15:50:30
	// time limit 2h10m0s
	// probability 0.901
	// holds 2.8 node-hours before the work, at most 4.6
}

// The same cluster cannot promise that probability for a deadline in an hour. The refusal
// offers similar requests, which can be promised in a minute, too.
func ExamplePlanner_Plan_refusal() {
	planner := trajectory.Planner{Forecaster: exponential(30 * 60)}
	now := time.Date(2026, 3, 3, 16, 0, 0, 0, time.UTC).Unix()
	answer := planner.Plan(trajectory.Request{
		Job:      workload.Request{Size: workload.Size{Nodes: 4, CPUs: 64}, Limit: 3600},
		Now:      now,
		Deadline: now + 3600,
		Prob:     .9,
	})
	reason, instead, _ := strings.Cut(answer.Refusal.Reason, ", can be promised ")
	fmt.Printf("%s\n  can be promised %s\n", reason, instead)
	for _, offer := range answer.Refusal.Offers {
		r := offer.Request
		fmt.Printf("%s: by %s with %.2f\n", offer.Kind, time.Unix(r.Deadline, 0).UTC().Format("15:04"), r.Prob)
	}
	// Output:
	// a start by 2026-03-03T17:00:00Z, in 01:00:00
	//   can be promised with probability 0.86 at best, not 0.9
	// probability: by 17:00 with 0.84
	// deadline: by 17:17 with 0.90
}
