package jobsize

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

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
		{"tasks by GPU", Options{GPUs: "3", NTasksPerGPU: 2, CPUsPerTask: 2}, workload.Size{Nodes: 1, CPUs: 12, GPUs: 3}},
		{"GPUs by tasks", Options{NTasks: 6, NTasksPerGPU: 2}, workload.Size{Nodes: 1, CPUs: 6, GPUs: 3}},
		{"CPUs by GPU", Options{GPUs: "4", CPUsPerGPU: 8}, workload.Size{Nodes: 1, CPUs: 32, GPUs: 4}},
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
		{Options{NTasks: 3, NTasksPerGPU: 2}, `--ntasks-per-gpu: 3 tasks are not a whole number of GPUs: say how many with --gpus`},
		{Options{GPUs: "a100:"}, `--gpus: "a100:" is not a number of GPUs such as 2 or a100:2`},
		{Options{Gres: "gpu:"}, `--gres: "gpu:" is not a number of GPUs such as gpu:2 or gpu:a100:2`},
		{Options{Gres: "gpu:2x"}, `--gres: "gpu:2x" is not a number of GPUs such as gpu:2 or gpu:a100:2`},
		{Options{Mem: "16X"}, `--mem: "16X" is not a size of memory such as 4000M or 16G`},
		{Options{Mem: "1G", MemPerCPU: "1G"}, `--mem-per-cpu does not go together with --mem: Slurm takes one of them`},
		{Options{Mem: "2000T"}, `--mem: "2000T" is not a size of memory such as 4000M or 16G`},
		{Options{Nodes: "16m", NTasksPerNode: 1 << 20}, `--ntasks-per-node: no job can have 17592186044416 tasks`},
		{Options{CPUsPerTask: 300_000_000}, `--cpus-per-task: no job can have 300000000 CPUs`},
		{Options{Nodes: "2", GPUsPerNode: "16777216", CPUsPerGPU: 16}, `--cpus-per-gpu: no job can have 536870912 CPUs`},
		{Options{NTasks: 16_777_216, GPUsPerTask: "1000"}, `--gpus-per-task: no job can have 16777216000 GPUs`},
		{Options{Nodes: "-1"}, `--nodes: "-1" is not a number of nodes`},
		{Options{Nodes: "1-x"}, `--nodes: "1-x" is not a number of nodes`},
	} {
		if _, err := test.in.Size(); err == nil || err.Error() != test.want {
			t.Errorf("%+v: got error %v, want %s", test.in, err, test.want)
		}
	}
}

// A job has all the nodes that it names.
func TestSizeOfNamedNodes(t *testing.T) {
	for in, want := range map[Options]workload.Size{
		{NodeList: "n[1-8]"}:                         {Nodes: 8, CPUs: 8},
		{NodeList: "n[1-2]", Nodes: "4"}:             {Nodes: 4, CPUs: 4},
		{NodeList: "n[1-4]", NTasks: 2}:              {Nodes: 4, CPUs: 2},
		{NodeList: "n1", Nodes: "4-8", NTasks: 2}:    {Nodes: 2, CPUs: 2},
		{NodeList: "n[1-2]", CPUsPerTask: 3}:         {Nodes: 2, CPUs: 6},
		{NodeList: "n1,n2", Nodes: "1", Gres: "gpu"}: {Nodes: 2, CPUs: 2, GPUs: 2},
	} {
		if got, err := in.Size(); err != nil || got != want {
			t.Errorf("%+v: %+v, %v, wanted %+v", in, got, err, want)
		}
	}
}

func TestNeeds(t *testing.T) {
	for in, want := range map[Options]workload.Needs{
		{}: {MostNodes: 1},
		{Nodes: "4", NTasksPerNode: 3, CPUsPerTask: 2, MemPerCPU: "1G"}: {
			MostNodes: 4, Scale: []workload.Counted{{Option: "--nodes=", Count: 4}}, NodeCPUs: workload.NodeNeed{Amount: 6, Option: "--ntasks-per-node"}, NodeMemory: workload.NodeNeed{Amount: 6144, Option: "--mem-per-cpu"},
		},
		{GPUs: "a100:2,h100:1", Mem: "0"}: {MostNodes: 3, NodeMemory: workload.NodeNeed{Option: "--mem"}, Gres: []workload.Gres{
			{Name: "gpu", Type: "a100", Count: 2, Option: "--gpus=a100:2,h100:1"}, {Name: "gpu", Type: "h100", Count: 1, Option: "--gpus=a100:2,h100:1"},
		}},
		{Tmp: "2G"}: {MostNodes: 1, NodeTmp: workload.NodeNeed{Amount: 2048, Option: "--tmp"}},
		{GPUsPerTask: "2", NTasks: 3}: {
			MostNodes: 3, Scale: []workload.Counted{{Option: "--ntasks=", Count: 3}}, Gres: []workload.Gres{{Name: "gpu", Count: 6, Option: "--gpus-per-task=2"}},
		},
		{GPUsPerNode: "a100:2"}: {MostNodes: 1, Gres: []workload.Gres{{Name: "gpu", Type: "a100", Count: 2, PerNode: true, Option: "--gpus-per-node=a100:2"}}},
		{Gres: "gpu,gres/gpu:a100,shard:2k"}: {MostNodes: 1, Gres: []workload.Gres{
			{Name: "gpu", Count: 1, PerNode: true, Option: "--gres=gpu,gres/gpu:a100,shard:2k"},
			{Name: "gpu", Type: "a100", Count: 1, PerNode: true, Option: "--gres=gpu,gres/gpu:a100,shard:2k"},
			{Name: "shard", Count: 2048, PerNode: true, Option: "--gres=gpu,gres/gpu:a100,shard:2k"},
		}},
	} {
		got, err := in.Needs()
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%+v: %v (-want +got):\n%s", in, err, diff)
		}
	}
	for in, want := range map[Options]string{
		{Gres: "gpu:a100:x"}: `--gres: "gpu:a100:x" is not`, {Gres: "shard:2:x"}: "--gres: ", {GPUs: "two"}: "--gpus: ", {Exclude: "n[1"}: "--exclude: ",
		{Mem: "much"}: "--mem: ", {Tmp: "some"}: "--tmp: ", {Nodes: "4-2"}: "--nodes: ", {Nodes: "1-8"}: "--nodes: \"1-8\" leaves the number of nodes open",
	} {
		if _, err := in.Needs(); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%+v: error %v, wanted %s", in, err, want)
		}
	}
}

// TestNothing: what asks for none of something is as if it were left out.
func TestNothing(t *testing.T) {
	plain := Options{Nodes: "2", NTasks: 4, NTasksPerGPU: 2, CPUsPerTask: 2}
	size, sizeErr := plain.Size()
	needs, needsErr := plain.Needs()
	if sizeErr != nil || needsErr != nil {
		t.Fatal(sizeErr, needsErr)
	}
	for _, ask := range []func(o *Options){
		func(o *Options) { o.GPUs = "0" },
		func(o *Options) { o.GPUs = "a100:0,0" },
		func(o *Options) { o.GPUsPerNode = "0" },
		func(o *Options) { o.GPUsPerTask = "a100:0" },
		func(o *Options) { o.Gres = "none" },
		func(o *Options) { o.Gres = "NONE" },
		func(o *Options) { o.Gres = "gpu:0" },
		func(o *Options) { o.Gres = "none:0" },
		func(o *Options) { o.Gres = "gres/gpu:a100:0,shard:0" },
		func(o *Options) { o.Tmp = "0" },
	} {
		o := plain
		ask(&o)
		if got, err := o.Size(); err != nil || got != size {
			t.Errorf("%+v: %+v, %v", o, got, err)
		}
		got, err := o.Needs()
		if diff := cmp.Diff(needs, got); err != nil || diff != "" {
			t.Errorf("%+v: %v (-want +got):\n%s", o, err, diff)
		}
	}
	if got, err := (Options{Gres: "gpu:0,shard:2"}).Needs(); err != nil || len(got.Gres) != 1 || got.Gres[0].Option != "--gres=shard:2" {
		t.Errorf("a list of some and none: %+v, %v", got, err)
	}
	for _, o := range []Options{{GPUs: "none"}, {Gres: "gpu:0,gpu:"}, {GPUs: "0,two"}} {
		if _, err := o.Size(); err == nil {
			t.Errorf("%+v was taken", o)
		}
	}
}

// Without --nodes Slurm may spread the tasks of a job, but not one task, nor those of
// --ntasks-per-node without GPUs.
func TestMostNodes(t *testing.T) {
	for in, want := range map[Options]int32{
		{}:                                                   1,
		{CPUsPerTask: 8}:                                     1,
		{NTasks: 4}:                                          4,
		{NTasks: 4, CPUsPerTask: 2}:                          4,
		{NTasks: 4, Nodes: "2"}:                              2,
		{NTasks: 2, Nodes: "4"}:                              2,
		{NTasksPerNode: 4}:                                   1,
		{NTasks: 8, NTasksPerNode: 4}:                        2,
		{GPUs: "4"}:                                          4,
		{GPUs: "a100:2,h100:1"}:                              3,
		{GPUs: "4", NTasks: 2}:                               2,
		{GPUs: "4", GPUsPerNode: "1"}:                        4,
		{GPUsPerTask: "1", NTasks: 3}:                        3,
		{GPUsPerNode: "2"}:                                   1,
		{NodeList: "n[1-3]"}:                                 3,
		{NodeList: "n[1-3]", NTasks: 8}:                      8,
		{GPUs: "3", NTasksPerGPU: 2}:                         3,
		{GPUs: "1", NTasks: 2, NTasksPerGPU: 2}:              1,
		{GPUs: "2", NTasks: 4, NTasksPerGPU: 2}:              2,
		{GPUs: "4", NTasks: 8, NTasksPerNode: 4}:             4,
		{GPUs: "2", NTasks: 2, NTasksPerNode: 2}:             2,
		{GPUsPerTask: "1", NTasks: 2, NTasksPerNode: 2}:      1,
		{GPUsPerNode: "2", NTasks: 2, NTasksPerNode: 2}:      1,
		{GPUs: "2", NTasks: 2, NTasksPerNode: 2, Nodes: "1"}: 1,
	} {
		if got, err := in.mostNodes(); err != nil || got != want {
			t.Errorf("%+v: %d, %v, wanted %d", in, got, err, want)
		}
	}
}

func FuzzSize(f *testing.F) {
	f.Add("2-4", int32(4), int32(2), int32(8), "a100:2", "1", "2", "gpu:a100:2,shard:1", "16G", "1000", "2T")
	f.Fuzz(func(t *testing.T, nodes string, tasks, perNode, cpus int32, gpus, gpusNode, gpusTask, gres, mem, memCPU, memGPU string) {
		size, err := Options{
			Nodes: nodes, NTasks: tasks, NTasksPerNode: perNode, CPUsPerTask: cpus, GPUs: gpus, GPUsPerNode: gpusNode, GPUsPerTask: gpusTask,
			Gres: gres, Mem: mem, MemPerCPU: memCPU, MemPerGPU: memGPU,
		}.Size()
		if err == nil && (size.Nodes < 1 || size.CPUs < 1 || size.GPUs < 0 || size.Memory < 0) {
			t.Errorf("impossible size %+v", size)
		}
	})
}

func TestPerCore(t *testing.T) {
	for in, want := range map[Options]int32{
		{}: 0, {ThreadsPerCore: 1}: 1, {Hint: "nomultithread"}: 1, {Hint: "multithread"}: 0, {Hint: "nomultithread", ThreadsPerCore: 2}: 1,
		{NTasksPerCore: 1}: 1, {NTasksPerCore: 1, CPUsPerTask: 3}: 1, {NTasksPerCore: 1, CPUsPerTask: 2}: 2, {NTasksPerCore: 2, ThreadsPerCore: 1}: 1,
	} {
		if n, err := in.Needs(); err != nil || n.PerCore != want {
			t.Errorf("%+v: %d CPUs of a core, %v", in, n.PerCore, err)
		}
	}
}
