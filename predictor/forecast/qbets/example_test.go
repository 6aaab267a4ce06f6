package qbets_test

import (
	"fmt"

	"github.com/varq-project/varq/predictor/forecast/qbets"
	"github.com/varq-project/varq/predictor/workload"
)

// A user asks for two nodes for an hour. Two hundred such jobs have started, one every five
// minutes. Every tenth waited for an hour, the others for up to 16 minutes.
func Example() {
	p := qbets.New()
	request := workload.Request{User: "alice", Partition: "batch", Size: workload.Size{Nodes: 2, CPUs: 64}, Limit: 3600}
	now := int64(1_700_000_000)
	for i := range int64(200) {
		wait := i % 10 * 120
		if i%10 == 9 {
			wait = 3600
		}
		now += 300
		p.Learn(workload.Job{ID: i, Request: request, Submit: now - wait, Eligible: now - wait, Start: now})
	}

	// With 95 % confidence, nine of ten jobs like this one start within an hour.
	b := p.Bound(request, now, .9)
	fmt.Printf("quantile .9: at most %d s, from %d waits of %s\n", b.Seconds, b.Sample, b.Class)

	// How probable is a start by a deadline in 30 minutes?
	candidates := []workload.Candidate{{Submit: now, Limit: request.Limit, Budget: 1800}}
	estimates := make([]workload.Estimate, len(candidates))
	p.Forecast(request, now, candidates, estimates)
	fmt.Printf("within 30 min: at least %.2f\n", estimates[0].Prob)
	// Output:
	// quantile .9: at most 3600 s, from 200 waits of partition=batch nodes=2 limit=30m-1h
	// within 30 min: at least 0.86
}
