package qbets

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/varq-project/varq/predictor/workload"
)

func TestGridClasses(t *testing.T) {
	for _, test := range []struct {
		name    string
		request workload.Request
		want    []string
	}{
		{"nodes", workload.Request{Partition: "batch", QOS: "high", Size: workload.Size{Nodes: 5, CPUs: 320}, Limit: 2 * hour}, []string{
			"partition=batch qos=high nodes=5-8 limit=1h-2h",
			"partition=batch qos=high limit=1h-2h",
			"partition=batch limit=1h-2h",
			"partition=batch",
			"all jobs",
		}},
		{"part of a node", workload.Request{Partition: "shared", Size: workload.Size{Nodes: 1, CPUs: 3}, Limit: 60}, []string{
			"partition=shared cpus=3-4 limit<=5m",
			"partition=shared limit<=5m",
			"partition=shared",
			"all jobs",
		}},
		{"GPUs", workload.Request{Partition: "gpu", Size: workload.Size{Nodes: 2, CPUs: 32, GPUs: 8}, Limit: 900*hour + 1}, []string{
			"partition=gpu gpus=5-8 limit>96h",
			"partition=gpu limit>96h",
			"partition=gpu",
			"all jobs",
		}},
		{"no partition", workload.Request{Size: workload.Size{CPUs: 2}, Limit: 900}, []string{
			"cpus=2 limit=5m-15m",
			"limit=5m-15m",
			"all jobs",
		}},
		{"nothing known", workload.Request{}, []string{
			"cpus=1 limit<=5m",
			"limit<=5m",
			"all jobs",
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			for _, c := range (Grid{}).Classes(nil, &test.request) {
				got = append(got, c.String())
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("classes (-want +got):\n%s", diff)
			}
		})
	}
}

// TestGridRangesHold: every number is in its range, and the ranges of two
// numbers are the same or do not meet.
func TestGridRangesHold(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	number := func() int64 { return 1 + random.Int64N(1<<(1+random.IntN(30))) }
	end := func(r Range) int64 {
		if r.Through == 0 {
			return 1 << 62
		}
		return r.Through
	}
	for name, rangeOf := range map[string]func(int64) Range{"doubling": doubling, "step": step} {
		for range 20_000 {
			m, n := number(), number()
			a, b := rangeOf(m), rangeOf(n)
			if m <= a.Above || m > end(a) {
				t.Fatalf("%s(%d) = %+v", name, m, a)
			}
			if a != b && a.Above < end(b) && b.Above < end(a) {
				t.Fatalf("%s(%d) = %+v meets %s(%d) = %+v", name, m, a, name, n, b)
			}
		}
	}
}
