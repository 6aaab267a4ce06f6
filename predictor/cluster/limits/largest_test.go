package limits

import (
	"testing"

	"github.com/varq-project/varq/predictor/workload"
)

func TestLargest(t *testing.T) {
	byNode := func(amount int64, option string) workload.NodeNeed {
		return workload.NodeNeed{Amount: amount, Option: option}
	}
	gpu := workload.Gres{Name: "gpu", Count: 2, PerNode: true}
	for _, v := range []struct {
		what  string
		asked workload.Size
		needs *workload.Needs
		edit  func(*Cluster, *Partition)
		want  workload.Size
	}{
		{"a number of nodes", workload.Size{Nodes: 2, CPUs: 4}, &workload.Needs{MostNodes: 2}, nil, workload.Size{Nodes: 2, CPUs: 4}},
		{"no needs", workload.Size{Nodes: 2, CPUs: 4}, nil, nil, workload.Size{Nodes: 2, CPUs: 4}},
		{"tasks", workload.Size{Nodes: 1, CPUs: 4}, &workload.Needs{MostNodes: 4}, nil, workload.Size{Nodes: 4, CPUs: 4}},
		{"more tasks than nodes", workload.Size{Nodes: 1, CPUs: 40}, &workload.Needs{MostNodes: 40}, nil, workload.Size{Nodes: 8, CPUs: 40}},
		{
			"MaxNodes", workload.Size{Nodes: 1, CPUs: 40}, &workload.Needs{MostNodes: 40},
			func(_ *Cluster, p *Partition) { p.MaxNodes = 3 }, workload.Size{Nodes: 3, CPUs: 40},
		},
		{
			"memory of a node", workload.Size{Nodes: 1, CPUs: 4, Memory: 100}, &workload.Needs{MostNodes: 4, NodeMemory: byNode(100, "--mem")}, nil,
			workload.Size{Nodes: 4, CPUs: 4, Memory: 400},
		},
		{
			"memory of a CPU", workload.Size{Nodes: 1, CPUs: 1, GPUs: 4, Memory: 100}, &workload.Needs{MostNodes: 4, NodeMemory: byNode(100, "--mem-per-cpu")},
			nil, workload.Size{Nodes: 4, CPUs: 4, GPUs: 4, Memory: 400},
		},
		{
			"GPUs of a node", workload.Size{Nodes: 1, CPUs: 3, GPUs: 2}, &workload.Needs{MostNodes: 3, Gres: []workload.Gres{gpu}}, nil,
			workload.Size{Nodes: 3, CPUs: 3, GPUs: 6},
		},
		{"alone", workload.Size{Nodes: 1, CPUs: 17}, &workload.Needs{MostNodes: 17, Exclusive: true}, nil, workload.Size{Nodes: 2, CPUs: 48}},
		{
			"alone, tasks of CPUs", workload.Size{Nodes: 1, CPUs: 36}, &workload.Needs{MostNodes: 4, NodeCPUs: byNode(9, "--cpus-per-task"), Exclusive: true}, nil,
			workload.Size{Nodes: 4, CPUs: 80},
		},
		{
			"whole nodes", workload.Size{Nodes: 1, CPUs: 4}, &workload.Needs{MostNodes: 4},
			func(_ *Cluster, p *Partition) { p.WholeNodes = true }, workload.Size{Nodes: 1, CPUs: 32},
		},
		{
			"whole nodes, and one task a core", workload.Size{Nodes: 1, CPUs: 16}, &workload.Needs{MostNodes: 16},
			func(c *Cluster, p *Partition) {
				p.WholeNodes = true
				for name, n := range c.Nodes {
					n.Threads = 2
					c.Nodes[name] = n
				}
			}, workload.Size{Nodes: 2, CPUs: 48},
		},
		{
			"whole nodes, by memory", workload.Size{Nodes: 1, CPUs: 8, Memory: 100_000}, &workload.Needs{MostNodes: 8, NodeMemory: byNode(12_500, "--mem-per-cpu"), Exclusive: true},
			nil, workload.Size{Nodes: 2, CPUs: 48, Memory: 600_000},
		},
	} {
		c := varied()
		if v.edit != nil {
			p := c.Partitions["main"]
			v.edit(c, &p)
			c.Partitions["main"] = p
		}
		if got := c.Job(workload.Request{Partition: "main", Size: v.asked}, v.needs).Largest(); got != v.want {
			t.Errorf("%s: %+v, wanted %+v", v.what, got, v.want)
		}
	}
}
