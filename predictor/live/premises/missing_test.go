package premises

import (
	"testing"

	"github.com/varq-project/varq/predictor/cluster/limits"
	"github.com/varq-project/varq/predictor/workload"
)

// TestMissing: a job waits for nodes that are drained if too few others are left.
func TestMissing(t *testing.T) {
	p := New(Options{})
	two := workload.Request{Partition: "main", Size: workload.Size{Nodes: 2, CPUs: 2}}
	if p.Missing(two) != "" {
		t.Error("before the nodes are known")
	}
	for _, drained := range []bool{false, true} {
		p.current.Store(&state{limits: limits.Cluster{
			Partitions: map[string]limits.Partition{"main": {Nodes: []string{"n1", "n2"}}},
			Nodes:      map[string]limits.Node{"n1": {Name: "n1", CPUs: 4, Usable: true}, "n2": {Name: "n2", CPUs: 4, Usable: !drained, Drained: drained}},
		}})
		one := two
		one.Nodes = 1
		if (p.Missing(two) != "") != drained || p.Missing(one) != "" {
			t.Errorf("n2 drained: %v", drained)
		}
	}
}
