package limits

import (
	"testing"

	"github.com/varq-project/varq/predictor/workload"
)

// TestMaxMemory: a job that asks for more memory of a node than MaxMemPerNode never starts, and one
// gets so many CPUs for its memory that none has more than MaxMemPerCPU.
func TestMaxMemory(t *testing.T) {
	perCPU := func(mib int64) workload.Needs {
		return workload.Needs{MostNodes: 2, NodeMemory: workload.NodeNeed{Amount: mib, Option: "--mem-per-cpu"}}
	}
	mem := func(mib int64) workload.Needs {
		return workload.Needs{NodeMemory: workload.NodeNeed{Amount: mib, Option: "--mem"}}
	}
	const most = "partition main allows 1000 MiB of memory a node (MaxMemPerNode), and "
	perNode := Memory{MaxMemPerNode: 1000}
	withDefault := func(m Memory) Memory {
		m.MaxMemPerNode = 1000
		return m
	}
	for _, v := range []struct {
		what   string
		of     Memory // of the partition
		needs  workload.Needs
		nodes  int32
		memory int64 // of the job
		says   string
	}{
		{"no limit", Memory{}, mem(32000), 1, 32000, ""},
		{"as much as allowed", perNode, mem(1000), 2, 2000, ""},
		{"too much", perNode, mem(1001), 1, 1001, most + "the job asks for 1001 (--mem)"},
		{"all of the node's", perNode, mem(0), 1, 0, most + "--mem=0 asks for all of a node's: say --mem=1000 or less"},
		{"all of the node's, by CPU", perNode, perCPU(0), 2, 8000, most + "--mem-per-cpu=0 asks for all of a node's: say --mem=1000 or less"},
		{"nothing said", perNode, workload.Needs{}, 1, 0, most + "a job that does not say its memory asks for all of a node's: say --mem=1000 or less"},
		{"a default", withDefault(Memory{DefMemPerNode: 1000}), workload.Needs{}, 1, 0, ""},
		{"too much by default", withDefault(Memory{DefMemPerCPU: 600}), workload.Needs{NodeCPUs: workload.NodeNeed{Amount: 2}}, 1, 0, most + "the job asks for 1200 (by default)"},
		{"of the CPUs of one node", perNode, perCPU(1200), 1, 1200, most + "the job asks for 1200 (--mem-per-cpu)"},
		{"of CPUs that may be on two nodes", perNode, perCPU(600), 1, 1200, ""},
		{"of CPUs on two nodes", perNode, perCPU(600), 2, 2400, most + "the job asks for 1200 (--mem-per-cpu)"},
		{"of GPUs", perNode, workload.Needs{NodeMemory: workload.NodeNeed{Amount: 2000, Option: "--mem-per-gpu"}}, 1, 2000, ""},
		{"CPUs for memory", Memory{MaxMemPerCPU: 1000}, mem(16000), 1, 16000, ""},
		{"CPUs for all memory", Memory{MaxMemPerCPU: 1_000_000}, mem(0), 1, 0, ""},
		{"too few CPUs for all memory", Memory{MaxMemPerCPU: 1}, mem(0), 1, 0, "--mem=0: 0 of the 8 nodes of partition main have a CPU for each 1 MiB of their memory (MaxMemPerCPU), and the job needs 1"},
		{"more CPUs for memory than there are", Memory{MaxMemPerCPU: 1000}, mem(32001), 1, 32001, "--mem: 0 of the 8 nodes of partition main have 33 CPUs, which Slurm gives to a job with 32001 MiB of memory a node (MaxMemPerCPU=1000), and the job needs 1"},
	} {
		c := varied()
		p := c.Partitions["main"]
		p.Memory = v.of
		c.Partitions["main"] = p
		r := workload.Request{User: "alice", Account: "plasma", Partition: "main", QOS: "normal", Size: workload.Size{Nodes: v.nodes, CPUs: v.nodes, Memory: v.memory}, Limit: hour}
		check(t, v.what, c.Job(r, &v.needs).CheckNeeds(), v.says)
	}
}

// TestTakesMemory: a job takes the memory that it asks for, that it has by default, or that of its
// nodes.
func TestTakesMemory(t *testing.T) {
	c := Cluster{
		Nodes: map[string]Node{"a": {Memory: 4000}, "b": {Memory: 3000}},
		Partitions: map[string]Partition{
			"shares":  {Nodes: []string{"a", "b"}},
			"whole":   {Nodes: []string{"a", "b"}, ConsumableMemory: true},
			"default": {Nodes: []string{"a", "b"}, ConsumableMemory: true, Memory: Memory{DefMemPerCPU: 500}},
		},
	}
	for _, v := range []struct {
		partition    string
		memory, want int64
	}{{"shares", 100, 0}, {"whole", 100, 100}, {"whole", 0, 6000}, {"default", 100, 100}, {"default", 0, 2000}} {
		r := workload.Request{Partition: v.partition, Size: workload.Size{Nodes: 2, CPUs: 4, Memory: v.memory}}
		if got := c.Takes().Memory(r); got != v.want {
			t.Errorf("%+v: %d MiB", v, got)
		}
	}
	r := workload.Request{Partition: "default", Size: workload.Size{Nodes: 2, CPUs: 4}}
	for _, n := range []*workload.Needs{nil, {}, {NodeMemory: workload.NodeNeed{Option: "--mem", Amount: 100}}, {NodeMemory: workload.NodeNeed{Option: "--mem-per-cpu", Amount: 100}}, {NodeMemory: workload.NodeNeed{Option: "--mem-per-gpu"}}} {
		if mib, ok := c.Job(r, n).asksAllMemory(); ok {
			t.Errorf("%+v: %d MiB", n, mib)
		}
	}
	for _, option := range []string{"--mem", "--mem-per-cpu"} {
		if mib, ok := c.Job(r, &workload.Needs{NodeMemory: workload.NodeNeed{Option: option}}).asksAllMemory(); !ok || mib != 6000 {
			t.Errorf("%s=0: %d MiB, %v", option, mib, ok)
		}
	}
}
