package trajectory_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/varq-project/varq/predictor/cluster/limits"
	"github.com/varq-project/varq/predictor/forecast/qbets"
	"github.com/varq-project/varq/predictor/promise/trajectory"
	"github.com/varq-project/varq/predictor/workload"
)

const hour = 3600

// learnt returns a predictor that has learnt n jobs of many sizes in one partition.
func learnt(n int) *qbets.Predictor {
	p := qbets.New()
	r := rand.New(rand.NewPCG(7, 8))
	for i := range n {
		start := int64(1_600_000_000 + 60*i)
		nodes := int32(1) << r.IntN(4)
		limit := int64(600) << r.IntN(8)
		wait := int64(r.ExpFloat64() * 10 * float64(nodes) * float64(limit) / 3600 * 60)
		p.Learn(workload.Job{
			ID:      int64(i),
			Request: workload.Request{Partition: "main", Size: workload.Size{Nodes: nodes, CPUs: 8 * nodes}, Limit: limit},
			Submit:  start - wait, Eligible: start - wait, Start: start,
		})
	}
	return p
}

func benchmark(b *testing.B, lead int64, prob float64) {
	p := &trajectory.Planner{
		Forecaster: learnt(200_000),
		Cluster: &limits.Cluster{Partitions: map[string]limits.Partition{"main": {
			Name: "main", Default: true, Up: true, MaxTime: limits.None, DefaultTime: hour,
			Nodes: strings.Fields("n1 n2 n3 n4 n5 n6 n7 n8"), TotalCPUs: 64,
		}}},
	}
	now := int64(1_700_000_000)
	q := trajectory.Request{
		Job: workload.Request{Size: workload.Size{Nodes: 4, CPUs: 32}, Limit: hour},
		Now: now, Deadline: now + lead, HoldUntil: now + lead, Prob: prob,
	}
	if a := p.Plan(q); (a.Plan == nil) != (prob > .999) {
		b.Fatalf("%+v %+v", a.Plan, a.Refusal)
	}
	var took []time.Duration
	for b.Loop() {
		start := time.Now()
		p.Plan(q)
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
}

// BenchmarkPlan measures one plan of 1,440 candidates, with 200,000 past jobs learnt.
func BenchmarkPlan(b *testing.B) { benchmark(b, 12*hour, .8) }

// BenchmarkPlanWeek measures a plan of 3,312 candidates.
func BenchmarkPlanWeek(b *testing.B) { benchmark(b, 7*24*hour, .8) }

// BenchmarkRefusal measures a refusal, with the search for offers.
func BenchmarkRefusal(b *testing.B) { benchmark(b, 12*hour, .99999) }
