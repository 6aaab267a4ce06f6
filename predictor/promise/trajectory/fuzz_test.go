package trajectory

import (
	"testing"

	"github.com/varq-project/varq/predictor/workload"
)

// The answer to any request is either a plan or a refusal. The plan has the properties of
// TestPlanProperties.
func FuzzPlan(f *testing.F) {
	f.Add(int64(noon), int64(noon+4*hour), int64(noon+4*hour), .9, int64(hour), int32(2), int32(16), int32(0), int64(0), "main")
	f.Add(int64(noon), int64(noon+9*24*hour), int64(0), .5, int64(0), int32(0), int32(0), int32(1), int64(1<<40), "")
	f.Add(int64(noon), int64(noon+1), int64(noon), .99, int64(1), int32(8), int32(64), int32(8), int64(-1), "x")
	f.Fuzz(func(t *testing.T, now, deadline, hold int64, prob float64, limit int64, nodes, cpus, gpus int32, memory int64, partition string) {
		c := site(nil)
		main := c.Partitions["main"]
		main.MaxTime, main.DefaultTime = 24*hour, hour
		c.Partitions["main"] = main
		p := &Planner{Forecaster: curve{mean: hour, sample: 1000}, Cluster: c, Horizon: 24 * hour}
		q := Request{
			Job: workload.Request{
				Partition: partition, Limit: limit,
				Size: workload.Size{Nodes: nodes, CPUs: cpus, GPUs: gpus, Memory: memory},
			},
			Now: now, Deadline: deadline, HoldUntil: hold, Prob: prob,
		}
		a := p.Plan(q)
		if (a.Plan == nil) == (a.Refusal == nil) {
			t.Fatalf("%+v", a)
		}
		if a.Plan != nil {
			checkPlan(t, p, q, a)
		} else if a.Refusal.Reason == "" {
			t.Fatal("refused without a word")
		}
	})
}
