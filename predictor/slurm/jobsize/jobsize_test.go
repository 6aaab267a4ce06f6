package jobsize

import (
	"testing"

	"github.com/varq-project/varq/predictor/workload"
)

func TestSize(t *testing.T) {
	for _, test := range []struct {
		name string
		in   Options
		want workload.Size
	}{
		{"nothing", Options{}, workload.Size{Nodes: 1, CPUs: 1}},
		{"nodes", Options{Nodes: "4"}, workload.Size{Nodes: 4, CPUs: 4}},
		{"least of a range", Options{Nodes: "2-8"}, workload.Size{Nodes: 2, CPUs: 2}},
		{"nodes by the thousand", Options{Nodes: "2k"}, workload.Size{Nodes: 2048, CPUs: 2048}},
		{"tasks alone", Options{NTasks: 16}, workload.Size{Nodes: 1, CPUs: 16}},
		{"tasks by node", Options{NTasks: 17, NTasksPerNode: 8}, workload.Size{Nodes: 3, CPUs: 17}},
		{"tasks by node, one node", Options{NTasksPerNode: 8}, workload.Size{Nodes: 1, CPUs: 8}},
		{"nodes and tasks by node", Options{Nodes: "4", NTasksPerNode: 8}, workload.Size{Nodes: 4, CPUs: 32}},
		{"fewer tasks than nodes", Options{Nodes: "4", NTasks: 2}, workload.Size{Nodes: 2, CPUs: 2}},
		{"CPUs by task", Options{Nodes: "2", NTasks: 4, CPUsPerTask: 16}, workload.Size{Nodes: 2, CPUs: 64}},
		{"GPUs", Options{GPUs: "8"}, workload.Size{Nodes: 1, CPUs: 1, GPUs: 8}},
		{"GPUs of two types", Options{GPUs: "a100:2,v100:1"}, workload.Size{Nodes: 1, CPUs: 1, GPUs: 3}},
		{"GPUs by node", Options{Nodes: "2", GPUsPerNode: "a100:4"}, workload.Size{Nodes: 2, CPUs: 2, GPUs: 8}},
		{"GPUs by task", Options{NTasks: 6, GPUsPerTask: "2"}, workload.Size{Nodes: 1, CPUs: 6, GPUs: 12}},
		{"one gres", Options{Nodes: "2", Gres: "gpu"}, workload.Size{Nodes: 2, CPUs: 2, GPUs: 2}},
		{"one typed gres", Options{Gres: "gpu:a100"}, workload.Size{Nodes: 1, CPUs: 1, GPUs: 1}},
		{"gres", Options{Nodes: "2", Gres: "gpu:3"}, workload.Size{Nodes: 2, CPUs: 2, GPUs: 6}},
		{"typed gres among others", Options{Gres: "shard:4,gres/gpu:a100:2"}, workload.Size{Nodes: 1, CPUs: 1, GPUs: 2}},
		{"memory by node", Options{Nodes: "2", Mem: "16G"}, workload.Size{Nodes: 2, CPUs: 2, Memory: 32768}},
		{"memory in MiB", Options{Mem: "4000"}, workload.Size{Nodes: 1, CPUs: 1, Memory: 4000}},
		{"memory in KiB", Options{Mem: "1025KB"}, workload.Size{Nodes: 1, CPUs: 1, Memory: 2}},
		{"memory by CPU", Options{NTasks: 4, CPUsPerTask: 2, MemPerCPU: "1T"}, workload.Size{Nodes: 1, CPUs: 8, Memory: 8 << 20}},
		{"memory by GPU", Options{GPUs: "4", MemPerGPU: "500m"}, workload.Size{Nodes: 1, CPUs: 1, GPUs: 4, Memory: 2000}},
		{"all the node's memory", Options{Mem: "0"}, workload.Size{Nodes: 1, CPUs: 1}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := test.in.Size()
			if err != nil {
				t.Fatal(err)
			}
			if got != test.want {
				t.Errorf("got %+v, want %+v", got, test.want)
			}
		})
	}
}

func TestSizeRefuses(t *testing.T) {
	for _, test := range []struct {
		in   Options
		want string
	}{
		{Options{Nodes: "four"}, `--nodes: "four" is not a number of nodes`},
		{Options{Nodes: "0"}, `--nodes: "0" is not a number of nodes`},
		{Options{Nodes: "17m"}, `--nodes: "17m" is not a number of nodes`},
		{Options{Nodes: "4-2"}, `--nodes: "4-2": the most is less than the least`},
		{Options{NTasks: -1}, `--ntasks: -1 is less than 1`},
		{Options{GPUs: "a100:"}, `--gpus: "a100:" is not a number of GPUs such as 2 or a100:2`},
		{Options{Gres: "gpu:"}, `--gres: "gpu:" is not a number of GPUs such as gpu:2 or gpu:a100:2`},
		{Options{Gres: "gpu:2x"}, `--gres: "gpu:2x" is not a number of GPUs such as gpu:2 or gpu:a100:2`},
		{Options{Mem: "16X"}, `--mem: "16X" is not a size of memory such as 4000M or 16G`},
		{Options{Mem: "2000T"}, `--mem: "2000T" is not a size of memory such as 4000M or 16G`},
		{Options{Nodes: "16m", NTasksPerNode: 1 << 20}, `no job can have 17592186044416 nodes, CPUs or GPUs`},
	} {
		if _, err := test.in.Size(); err == nil || err.Error() != test.want {
			t.Errorf("%+v: got error %v, want %s", test.in, err, test.want)
		}
	}
}

func FuzzSize(f *testing.F) {
	f.Add("2-4", int32(4), int32(2), int32(8), "a100:2", "1", "2", "gpu:a100:2,shard:1", "16G", "1000", "2T")
	f.Fuzz(func(t *testing.T, nodes string, tasks, perNode, cpus int32, gpus, gpusNode, gpusTask, gres, mem, memCPU, memGPU string) {
		size, err := Options{nodes, tasks, perNode, cpus, gpus, gpusNode, gpusTask, gres, mem, memCPU, memGPU}.Size()
		if err == nil && (size.Nodes < 1 || size.CPUs < 1 || size.GPUs < 0 || size.Memory < 0) {
			t.Errorf("impossible size %+v", size)
		}
	})
}
