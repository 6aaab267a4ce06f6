// Package jobsize computes the nodes, CPUs, GPUs and memory of a whole job from sbatch's
// options, which give them by node, task, CPU or GPU.
package jobsize

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/varq-project/varq/predictor/workload"
)

// Options are sbatch's options of the same names, as written; empty or 0 means
// not given.
type Options struct {
	Nodes         string // LEAST or LEAST-MOST
	NTasks        int32
	NTasksPerNode int32
	CPUsPerTask   int32
	NTasksPerGPU  int32
	CPUsPerGPU    int32
	GPUs          string // [TYPE:]N,...
	GPUsPerNode   string
	GPUsPerTask   string
	Gres          string // gpu[:TYPE][:N],...
	Mem           string // N[K|M|G|T], of a node
	MemPerCPU     string
	MemPerGPU     string
	MinCPUs       int32  // of a node
	Tmp           string // N[K|M|G|T], of a node
	Constraint    string
	NodeList      string
	Exclude       string
	Exclusive     bool
	Licenses      string
	Reservation   string
	Overcommit    bool // any number of tasks shares a CPU of each node
	// These say how many CPUs of a core the job uses.
	ThreadsPerCore, NTasksPerCore int32
	Hint                          string
}

// Size returns the totals of the job with its least number of nodes. As in Slurm, a job
// without options has one node, one task and one CPU. If no memory is given, Memory is 0.
// An error names the invalid option.
func (o Options) Size() (workload.Size, error) {
	var none workload.Size
	o, err := o.withGPUs()
	if err != nil {
		return none, err
	}
	for _, count := range []struct {
		option string
		value  int32
	}{
		{"--ntasks", o.NTasks}, {"--ntasks-per-node", o.NTasksPerNode}, {"--cpus-per-task", o.CPUsPerTask},
		{"--mincpus", o.MinCPUs}, {"--ntasks-per-gpu", o.NTasksPerGPU}, {"--cpus-per-gpu", o.CPUsPerGPU},
	} {
		if count.value < 0 {
			return none, fmt.Errorf("%s: %d is less than 1", count.option, count.value)
		}
	}
	nodes, tasks, err := o.nodesAndTasks()
	if err != nil {
		return none, err
	}
	gpus, err := o.gpus(nodes, tasks)
	if err != nil {
		return none, err
	}
	if err := o.countable(nodes, "nodes", "--nodes", "--nodelist"); err != nil {
		return none, err
	}
	if err := o.countable(gpus, "GPUs", "--gpus", "--gpus-per-task", "--gpus-per-node", "--gres"); err != nil {
		return none, err
	}
	if o.NTasks == 0 {
		tasks = max(tasks, gpus*int64(o.NTasksPerGPU))
	}
	if err := o.countable(tasks, "tasks", "--ntasks", "--ntasks-per-gpu", "--ntasks-per-node", "--nodes"); err != nil {
		return none, err
	}
	cpus := max(tasks*max(1, int64(o.CPUsPerTask)), gpus*int64(o.CPUsPerGPU))
	if err := o.countable(cpus, "CPUs", "--cpus-per-task", "--cpus-per-gpu", "--ntasks", "--ntasks-per-node", "--nodes"); err != nil {
		return none, err
	}
	memory, err := o.memory(nodes, cpus, gpus)
	if err != nil {
		return none, err
	}
	return workload.Size{Nodes: int32(nodes), CPUs: int32(cpus), GPUs: int32(gpus), Memory: memory}, nil
}

// withGPUs returns the options without the resources of which they ask for none, and with the GPUs
// for the tasks where they name only the tasks of a GPU.
func (o Options) withGPUs() (Options, error) {
	if o.Overcommit {
		o.NTasks, o.NTasksPerNode, o.CPUsPerTask = 0, 0, 0
	}
	if strings.EqualFold(o.Gres, "none") {
		o.Gres = ""
	}
	for _, list := range []*string{&o.GPUs, &o.GPUsPerNode, &o.GPUsPerTask, &o.Gres} {
		*list = withoutNone(*list)
	}
	if o.NTasksPerGPU <= 0 || o.NTasks <= 0 || o.GPUs != "" || o.GPUsPerNode != "" || o.GPUsPerTask != "" || o.Gres != "" {
		return o, nil
	}
	if o.NTasks%o.NTasksPerGPU != 0 {
		return o, fmt.Errorf("--ntasks-per-gpu: %d tasks are not a whole number of GPUs: say how many with --gpus", o.NTasks)
	}
	o.GPUs = strconv.Itoa(int(o.NTasks / o.NTasksPerGPU))
	return o, nil
}

// most is the greatest number of nodes, tasks, CPUs or GPUs that a job may have: what varqd takes.
// Products of two of them fit an int64.
const most = 1 << 28

// countable returns an error if a number is more than any job can have. The error names the first
// of some options that is given.
func (o Options) countable(number int64, of string, options ...string) error {
	if number <= most {
		return nil
	}
	given := map[string]bool{
		"--nodelist": o.NodeList != "", "--gpus": o.GPUs != "", "--gpus-per-task": o.GPUsPerTask != "", "--gpus-per-node": o.GPUsPerNode != "",
		"--gres": o.Gres != "", "--ntasks": o.NTasks > 1, "--ntasks-per-gpu": o.NTasksPerGPU > 1, "--ntasks-per-node": o.NTasksPerNode > 1,
		"--cpus-per-task": o.CPUsPerTask > 1, "--cpus-per-gpu": o.CPUsPerGPU > 1, "--nodes": o.Nodes != "",
	}
	i := max(0, slices.IndexFunc(options, func(option string) bool { return given[option] }))
	return fmt.Errorf("%s: no job can have %d %s", options[i], number, of)
}

// nodesAndTasks returns the numbers of nodes and tasks of the job.
func (o Options) nodesAndTasks() (nodes, tasks int64, err error) {
	tasks, perNode := int64(o.NTasks), max(1, int64(o.NTasksPerNode))
	named, err := namedNodes("--nodelist", o.NodeList)
	if err != nil {
		return 0, 0, err
	}
	if nodes = int64(len(named.Names)); o.Nodes == "" && nodes == 0 {
		switch {
		case tasks == 0:
			return 1, perNode, nil
		case o.NTasksPerNode == 0:
			return 1, tasks, nil
		default:
			return (tasks + perNode - 1) / perNode, tasks, nil
		}
	}
	if o.Nodes != "" {
		least, err := leastNodes(o.Nodes)
		if err != nil {
			return 0, 0, fmt.Errorf("--nodes: %w", err)
		}
		nodes = max(nodes, least) // a job has all the nodes that it names
	}
	if tasks == 0 {
		return nodes, nodes * perNode, nil
	}
	// no other node stays without a task
	return min(nodes, max(tasks, int64(len(named.Names)))), tasks, nil
}

// gpus returns the largest total that any of the options asks for.
func (o Options) gpus(nodes, tasks int64) (int64, error) {
	var total int64
	for _, ask := range []struct {
		option, value string
		parse         func(string) (int64, error)
		times         int64
	}{
		{"--gpus", o.GPUs, typedCount, 1},
		{"--gpus-per-node", o.GPUsPerNode, typedCount, nodes},
		{"--gpus-per-task", o.GPUsPerTask, typedCount, tasks},
		{"--gres", o.Gres, gresGPUs, nodes},
	} {
		if ask.value == "" {
			continue
		}
		n, err := ask.parse(ask.value)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", ask.option, err)
		}
		total = max(total, n*ask.times)
	}
	return total, nil
}

// memory returns what the one option asks for that may be given, in MiB.
func (o Options) memory(nodes, cpus, gpus int64) (int64, error) {
	var total int64
	given := ""
	for _, ask := range []struct {
		option, value string
		times         int64
	}{
		{"--mem", o.Mem, nodes}, {"--mem-per-cpu", o.MemPerCPU, cpus}, {"--mem-per-gpu", o.MemPerGPU, gpus},
	} {
		if ask.value == "" {
			continue
		}
		mib, err := parseMemory(ask.value)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", ask.option, err)
		}
		if given != "" {
			return 0, fmt.Errorf("%s does not go together with %s: Slurm takes one of them", ask.option, given)
		}
		given, total = ask.option, mib*ask.times
	}
	return total, nil
}
