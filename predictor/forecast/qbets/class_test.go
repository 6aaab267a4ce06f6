package qbets

import (
	"math/rand/v2"
	"testing"

	"github.com/varq-project/varq/predictor/workload"
)

func TestGridClass(t *testing.T) {
	for _, test := range []struct {
		name    string
		request workload.Request
		want    string
	}{
		{"nodes", workload.Request{Partition: "batch", QOS: "high", Size: workload.Size{Nodes: 5, CPUs: 320}, Limit: 2 * hour}, "partition=batch qos=high nodes=5-8 limit=1h-2h"},
		{"part of a node", workload.Request{Partition: "shared", Size: workload.Size{Nodes: 1, CPUs: 3}, Limit: 60}, "partition=shared cpus=3-4 limit<=5m"},
		{"GPUs", workload.Request{Partition: "gpu", Size: workload.Size{Nodes: 2, CPUs: 32, GPUs: 8}, Limit: 900*hour + 1}, "partition=gpu gpus=5-8 limit>96h"},
		{"no partition", workload.Request{Size: workload.Size{CPUs: 2}, Limit: 900}, "cpus=2 limit=5m-15m"},
		{"nothing known", workload.Request{}, "cpus=1 limit<=5m"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := Cell(&test.request).String(); got != test.want {
				t.Errorf("class %q, want %q", got, test.want)
			}
		})
	}
}

func TestAtLeast(t *testing.T) {
	class := func(cpus, nodes, gpus int32, limit int64) Class {
		return Cell(&workload.Request{Size: workload.Size{CPUs: cpus, Nodes: nodes, GPUs: gpus}, Limit: limit})
	}
	for _, test := range []struct {
		name string
		a, b Class
		want bool
	}{
		{"the same", class(16, 1, 0, hour), class(16, 1, 0, hour), true},
		{"longer", class(16, 1, 0, 2*hour), class(16, 1, 0, hour), true},
		{"shorter", class(16, 1, 0, hour), class(16, 1, 0, 2*hour), false},
		{"larger", class(64, 4, 0, hour), class(32, 2, 0, hour), true},
		{"smaller", class(32, 2, 0, hour), class(64, 4, 0, hour), false},
		{"longer but smaller", class(32, 2, 0, 2*hour), class(64, 4, 0, hour), false},
		{"nodes instead of CPUs", class(32, 2, 0, hour), class(64, 1, 0, hour), true},
		{"CPUs instead of nodes", class(64, 1, 0, hour), class(32, 2, 0, hour), false},
		{"GPUs instead of nodes", class(32, 2, 8, hour), class(32, 2, 0, hour), false},
		{"nodes instead of GPUs", class(32, 2, 0, hour), class(32, 2, 1, hour), false},
	} {
		if got := test.a.atLeast(test.b); got != test.want {
			t.Errorf("%s: %v is at least %v: %v", test.name, test.a, test.b, got)
		}
	}
}

func TestWidened(t *testing.T) {
	request := workload.Request{Partition: "main", QOS: "low", Size: workload.Size{Nodes: 8}, Limit: 10 * hour}
	class := Cell(&request)
	for want, change := range map[string]func(*workload.Request){
		"partition=main qos=low nodes=5-8 limit=8h-12h": func(*workload.Request) {},
		"partition=main nodes=5-8 limit=8h-12h":         func(r *workload.Request) { r.QOS = "high" },
		"partition=main qos=low nodes=5+ limit=8h-12h":  func(r *workload.Request) { r.Nodes = 9 },
		"partition=main qos=low nodes=5-8 limit>8h":     func(r *workload.Request) { r.Limit *= 2 },
	} {
		other := request
		change(&other)
		if got := class.widened(Cell(&other)).String(); got != want {
			t.Errorf("widened to %q, want %q", got, want)
		}
	}
}

// TestGridRangesHold: every number is in its range, and the ranges of two
// numbers are the same or do not meet.
func TestGridRangesHold(t *testing.T) {
	end := func(r Range) int64 {
		if r.Through == 0 {
			return 1 << 62
		}
		return r.Through
	}
	for name, rangeOf := range map[string]func(int64) Range{"doubling": doubling, "step": step} {
		random := rand.New(rand.NewPCG(1, 1))
		number := func() int64 { return 1 + random.Int64N(1<<(1+random.IntN(30))) }
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
