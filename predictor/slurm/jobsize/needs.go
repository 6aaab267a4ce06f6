package jobsize

import (
	"fmt"
	"math"
	"strings"

	"github.com/varq-project/varq/predictor/hostlist"
	"github.com/varq-project/varq/predictor/workload"
)

// Needs returns what the options of a reservation demand of the job's nodes. An error names the
// invalid option. The number of nodes must not be left open.
func (o Options) Needs() (workload.Needs, error) {
	n := workload.Needs{Constraint: o.Constraint, Exclusive: o.Exclusive, Licenses: o.Licenses, Reservation: o.Reservation, PerCore: o.perCore()}
	o, err := o.withGPUs()
	if err != nil {
		return n, err
	}
	if n.NodeList, err = namedNodes("--nodelist", o.NodeList); err != nil {
		return n, err
	}
	if n.Exclude, err = namedNodes("--exclude", o.Exclude); err != nil {
		return n, err
	}
	_, tasks, err := o.nodesAndTasks()
	if err != nil {
		return n, err
	}
	size, err := o.Size()
	if err != nil {
		return n, err
	}
	n.Scale = o.scale(size, tasks)
	if n.MostNodes, err = o.mostNodes(); err != nil {
		return n, err
	}
	n.NodeCPUs = o.nodeCPUs()
	if n.NodeMemory, err = o.nodeMemory(); err != nil {
		return n, err
	}
	if o.Tmp != "" {
		mib, err := parseMemory(o.Tmp)
		if err != nil {
			return n, fmt.Errorf("--tmp: %w", err)
		}
		if mib > 0 {
			n.NodeTmp = workload.NodeNeed{Amount: mib, Option: "--tmp"}
		}
	}
	for _, ask := range []struct {
		option, value string
		perNode       bool
		times         int64
	}{
		{"--gpus", o.GPUs, false, 1},
		{"--gpus-per-node", o.GPUsPerNode, true, 1},
		{"--gpus-per-task", o.GPUsPerTask, false, tasks},
	} {
		if ask.value == "" {
			continue
		}
		for item := range strings.SplitSeq(ask.value, ",") {
			kind, _, typed := cutLast(item)
			count, err := typedCount(item)
			if err != nil {
				return n, fmt.Errorf("%s: %w", ask.option, err)
			}
			g := workload.Gres{Name: "gpu", Count: count * ask.times, PerNode: ask.perNode, Option: ask.option + "=" + ask.value}
			if typed {
				g.Type = kind
			}
			n.Gres = append(n.Gres, g)
		}
	}
	if o.Gres != "" {
		for item := range strings.SplitSeq(o.Gres, ",") {
			g, err := gres(item)
			if err != nil {
				return n, fmt.Errorf("--gres: %w", err)
			}
			g.Option = "--gres=" + o.Gres
			n.Gres = append(n.Gres, g)
		}
	}
	return n, nil
}

func namedNodes(option, list string) (workload.NamedNodes, error) {
	if list == "" {
		return workload.NamedNodes{}, nil
	}
	names, err := hostlist.Expand(list)
	if err != nil {
		return workload.NamedNodes{}, fmt.Errorf("%s: %w", option, err)
	}
	return workload.NamedNodes{Names: names, Option: option + "=" + list}, nil
}

// nodeCPUs returns the CPUs that a node must have for the job's tasks there.
func (o Options) nodeCPUs() workload.NodeNeed {
	best := workload.NodeNeed{}
	for _, need := range []workload.NodeNeed{
		{Amount: int64(o.MinCPUs), Option: "--mincpus"},
		{Amount: int64(o.CPUsPerTask), Option: "--cpus-per-task"},
		{Amount: int64(o.NTasksPerNode) * max(1, int64(o.CPUsPerTask)), Option: "--ntasks-per-node"},
	} {
		if need.Amount > best.Amount {
			best = need
		}
	}
	return best
}

// nodeMemory returns the memory, in MiB, that a node must have for one task there.
func (o Options) nodeMemory() (workload.NodeNeed, error) {
	best := workload.NodeNeed{}
	for _, ask := range []struct {
		option, value string
		times         int64
	}{
		{"--mem", o.Mem, 1}, {"--mem-per-cpu", o.MemPerCPU, max(1, o.nodeCPUs().Amount)}, {"--mem-per-gpu", o.MemPerGPU, 1},
	} {
		if ask.value == "" {
			continue
		}
		mib, err := parseMemory(ask.value)
		if err != nil {
			return best, fmt.Errorf("%s: %w", ask.option, err)
		}
		if mib*ask.times > best.Amount || best.Option == "" { // 0 is all of the node's
			best = workload.NodeNeed{Amount: mib * ask.times, Option: ask.option}
		}
	}
	return best, nil
}

// gres reads an item of --gres: "gpu", "gpu:2", "gres/gpu:a100:2".
func gres(item string) (workload.Gres, error) {
	name, rest, detailed := strings.Cut(strings.TrimPrefix(item, "gres/"), ":")
	g := workload.Gres{Name: name, Count: 1, PerNode: true}
	if name == "" {
		return g, fmt.Errorf("%q is not a generic resource such as gpu:2", item)
	}
	if !detailed {
		return g, nil
	}
	if isType(rest) {
		g.Type = rest
		return g, nil
	}
	kind, count, typed := cutLast(rest)
	if typed {
		g.Type = kind
	}
	var err error
	if g.Count, err = parseGresCount(count); err != nil {
		return g, fmt.Errorf("%q is not a generic resource such as gpu:2 or gpu:a100:2", item)
	}
	return g, nil
}

// cutLast cuts s at its last colon. Without one, after is s.
func cutLast(s string) (before, after string, found bool) {
	i := strings.LastIndexByte(s, ':')
	if i < 0 {
		return "", s, false
	}
	return s[:i], s[i+1:], true
}

// perCore returns how many CPUs of each core the job uses at most, 0 for all of them. Of tasks that
// share no core, and may not fill their last one, it says too few rather than too many.
func (o *Options) perCore() int32 {
	uses := o.ThreadsPerCore
	if o.NTasksPerCore > 0 {
		tasks := int64(o.NTasksPerCore) * int64(max(1, o.CPUsPerTask))
		if o.CPUsPerTask > 1 && o.CPUsPerTask%2 != 0 {
			tasks = 1
		}
		if uses == 0 || tasks < int64(uses) {
			uses = int32(min(tasks, math.MaxInt32))
		}
	}
	if o.Hint == "nomultithread" {
		uses = 1
	}
	return uses
}
