package limits

import (
	"fmt"
	"testing"

	"github.com/varq-project/varq/predictor/workload"
)

// Tasks of an array share nodes as far as they fit on them.
func TestTogether(t *testing.T) {
	c := &Cluster{
		Partitions: map[string]Partition{"main": {Name: "main", Up: true, Nodes: []string{"a", "b", "c", "d"}, ConsumableMemory: true}, "whole": {Name: "whole", Up: true, Nodes: []string{"a", "b", "c", "d"}, WholeNodes: true}},
		Nodes:      map[string]Node{},
	}
	for _, name := range []string{"a", "b", "c", "d"} {
		c.Nodes[name] = Node{CPUs: 16, Memory: 64_000, Gres: map[string]int64{"gpu": 4}, Usable: true}
	}
	one := workload.Needs{MostNodes: 1}
	for _, v := range []struct {
		partition string
		size      workload.Size
		needs     *workload.Needs
		n         int32
		want      string
	}{ // without memory a job has all of its node, and tasks have no more nodes than they ask for
		{"main", workload.Size{Nodes: 1, CPUs: 1, Memory: 1000}, &one, 1, "1 nodes, 1 CPUs, pieces 1"},
		{"main", workload.Size{Nodes: 1, CPUs: 1, Memory: 1000}, &one, 40, "3 nodes, 40 CPUs, pieces 40"},
		{"main", workload.Size{Nodes: 1, CPUs: 1}, &one, 40, "40 nodes, 40 CPUs, pieces 40"},
		{"main", workload.Size{Nodes: 1, CPUs: 12, Memory: 1000}, &one, 3, "3 nodes, 36 CPUs, pieces 3"},
		{"main", workload.Size{Nodes: 1, CPUs: 2, GPUs: 1, Memory: 1000}, &one, 6, "2 nodes, 12 CPUs, pieces 6"},
		{"main", workload.Size{Nodes: 1, CPUs: 1, Memory: 40_000}, &one, 3, "3 nodes, 3 CPUs, pieces 3"},
		{"main", workload.Size{Nodes: 2, CPUs: 4}, nil, 3, "2 nodes, 12 CPUs, pieces 0"},
		{"main", workload.Size{Nodes: 2, CPUs: 32}, &workload.Needs{MostNodes: 2, NodeCPUs: workload.NodeNeed{Amount: 16}}, 2, "4 nodes, 64 CPUs, pieces 4"},
		{"main", workload.Size{Nodes: 1, CPUs: 40}, nil, 2, "2 nodes, 80 CPUs, pieces 0"},
		{"whole", workload.Size{Nodes: 1, CPUs: 1}, &one, 3, "3 nodes, 3 CPUs, pieces 3"},
	} {
		job := c.Job(workload.Request{Partition: v.partition, Size: v.size, Limit: 60}, v.needs)
		all := job.Together(v.n)
		if most := job.MostTogether(100); most < 100 && int(job.Together(most+1).Nodes) <= 4 && job.Together(most+1).CPUs <= 64 || most > 0 && (job.Together(most).Nodes > 4 || job.Together(most).CPUs > 64) {
			t.Errorf("at most %d of %+v", most, v.size)
		}
		if got := fmt.Sprintf("%d nodes, %d CPUs, pieces %d", all.Nodes, all.CPUs, job.Pieces().Times(v.n).Count); got != v.want {
			t.Errorf("%d of %+v in %s: %s, want %s", v.n, v.size, v.partition, got, v.want)
		}
	}
}
