package limits

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/varq-project/varq/predictor/workload"
)

// TestPieces: what jobs need of single nodes.
func TestPieces(t *testing.T) {
	c := Cluster{
		Partitions: map[string]Partition{
			"main":  {Nodes: []string{"a", "b"}, ConsumableMemory: true, Memory: Memory{DefMemPerCPU: 10}},
			"whole": {Nodes: []string{"a", "b"}, WholeNodes: true},
			"user":  {Nodes: []string{"a", "b"}, UserNodes: true},
			"share": {Nodes: []string{"a", "b"}},
			"cores": {Nodes: []string{"c"}},
			"mixed": {Nodes: []string{"a", "c"}},
		},
		Nodes: map[string]Node{"a": {Usable: true, CPUs: 4, Memory: 100, Gres: map[string]int64{"gpu": 2}}, "c": {Usable: true, CPUs: 4, Threads: 2}, "b": {Usable: true, CPUs: 4, Memory: 100}},
	}
	size := func(nodes, cpus, gpus int32, memory int64) workload.Size {
		return workload.Size{Nodes: nodes, CPUs: cpus, GPUs: gpus, Memory: memory}
	}
	threads := workload.NodeNeed{Amount: 3, Option: "--cpus-per-task"}
	for name, one := range map[string]struct {
		partition string
		size      workload.Size
		needs     *workload.Needs
		want      workload.Pieces
	}{
		"nothing is known":            {"main", size(1, 4, 0, 0), nil, workload.Pieces{}},
		"the partition's rule":        {"whole", size(2, 2, 0, 0), nil, workload.Pieces{Count: 2, Exclusive: true}},
		"nodes of a user":             {"user", size(2, 2, 0, 0), &workload.Needs{MostNodes: 2}, workload.Pieces{Count: 2, Exclusive: true}},
		"exclusive":                   {"main", size(2, 2, 0, 0), &workload.Needs{MostNodes: 2, Exclusive: true}, workload.Pieces{Count: 2, Exclusive: true}},
		"one node":                    {"main", size(1, 3, 1, 50), &workload.Needs{MostNodes: 1}, workload.Pieces{Count: 1, Each: size(0, 3, 1, 50)}},
		"its memory by default":       {"main", size(1, 3, 0, 0), &workload.Needs{MostNodes: 1}, workload.Pieces{Count: 1, Each: size(0, 3, 0, 30)}},
		"memory is shared":            {"share", size(1, 3, 0, 50), &workload.Needs{MostNodes: 1}, workload.Pieces{Count: 1, Each: size(0, 3, 0, 0)}},
		"whole cores":                 {"cores", size(1, 3, 0, 0), &workload.Needs{MostNodes: 1}, workload.Pieces{Count: 1, Each: size(0, 4, 0, 0)}},
		"cores of some nodes":         {"mixed", size(1, 3, 0, 0), &workload.Needs{MostNodes: 1}, workload.Pieces{Count: 1, Each: size(0, 3, 0, 0)}},
		"two nodes":                   {"main", size(2, 6, 2, 80), &workload.Needs{MostNodes: 2, NodeCPUs: threads, NodeMemory: workload.NodeNeed{Amount: 40, Option: "--mem"}, Gres: []workload.Gres{{Name: "gpu", Count: 1, PerNode: true}}}, workload.Pieces{Count: 2, Each: size(0, 3, 1, 40)}},
		"all memory of two nodes":     {"main", size(2, 2, 0, 200), &workload.Needs{MostNodes: 2, NodeMemory: workload.NodeNeed{Option: "--mem"}}, workload.Pieces{Count: 2, Each: size(0, 1, 0, 100)}},
		"most of two nodes":           {"main", size(2, 7, 3, 0), &workload.Needs{MostNodes: 2}, workload.Pieces{Count: 2, Each: size(0, 3, 1, 0)}},
		"tasks of three CPUs":         {"main", size(1, 30, 0, 0), &workload.Needs{MostNodes: 10, NodeCPUs: threads}, workload.Pieces{Count: 10, Each: size(0, 3, 0, 0)}},
		"tasks where cores have CPUs": {"cores", size(1, 30, 0, 0), &workload.Needs{MostNodes: 10, NodeCPUs: threads}, workload.Pieces{}},
		"least CPUs of one node":      {"main", size(1, 1, 0, 10), &workload.Needs{MostNodes: 1, NodeCPUs: workload.NodeNeed{Amount: 3, Option: "--mincpus"}}, workload.Pieces{Count: 1, Each: size(0, 3, 0, 10)}},
		"tasks of a CPU":              {"main", size(1, 30, 0, 0), &workload.Needs{MostNodes: 30}, workload.Pieces{}},
		"least CPUs of a node":        {"main", size(1, 30, 0, 0), &workload.Needs{MostNodes: 30, NodeCPUs: workload.NodeNeed{Amount: 2, Option: "--mincpus"}}, workload.Pieces{}},
	} {
		got := c.Job(workload.Request{Partition: one.partition, Size: one.size}, one.needs).Pieces()
		if diff := cmp.Diff(one.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// TestTakesCPUs: jobs take whole cores, and CPUs for their memory.
func TestTakesCPUs(t *testing.T) {
	c := Cluster{
		Partitions: map[string]Partition{"cores": {Nodes: []string{"c", "d"}}, "memory": {Memory: Memory{MaxMemPerCPU: 100}}, "mixed": {Nodes: []string{"a", "c"}}},
		Nodes:      map[string]Node{"a": {CPUs: 4, Threads: 1}, "c": {CPUs: 8, Threads: 2}, "d": {CPUs: 8, Threads: 4}},
	}
	for _, one := range []struct {
		partition   string
		asks, takes int32
	}{{"memory", 1, 3}, {"memory", 4, 4}, {"cores", 1, 2}, {"cores", 4, 4}, {"cores", 5, 6}, {"mixed", 1, 1}, {"none", 3, 3}} {
		r := workload.Request{Partition: one.partition, Size: workload.Size{Nodes: 1, CPUs: one.asks, Memory: 201}}
		if got := c.Takes().CPUs(r); got != one.takes {
			t.Errorf("%d CPUs in %s take %d, want %d", one.asks, one.partition, got, one.takes)
		}
	}
}
