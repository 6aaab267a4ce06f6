package jobsize

import (
	"strconv"
	"strings"

	"github.com/varq-project/varq/predictor/workload"
)

// scale returns the options that make a job of this size smaller; see workload.Needs.
func (o Options) scale(size workload.Size, tasks int64) (found []workload.Counted) {
	if o.NodeList != "" || int64(size.CPUs) != tasks*max(1, int64(o.CPUsPerTask)) || o.NTasksPerGPU > 0 {
		return nil
	}
	add := func(option string, count int64, given bool) {
		if given {
			found = append(found, workload.Counted{Option: option, Count: count})
		}
	}
	if size.Nodes > 1 {
		add("--nodes=", int64(size.Nodes), o.Nodes != "")
		add("--ntasks=", tasks, o.NTasks > 0)
		if o.GPUs != "" {
			i := strings.LastIndexByte(o.GPUs, ':') + 1
			count, err := strconv.ParseInt(o.GPUs[i:], 10, 32)
			if err != nil || strings.Contains(o.GPUs, ",") { // of several types
				return nil
			}
			add("--gpus="+o.GPUs[:i], count, true)
		}
		return found
	}
	switch {
	case o.Exclusive:
	case tasks > 1:
		add("--ntasks=", tasks, o.NTasks > 0)
		add("--ntasks-per-node=", int64(o.NTasksPerNode), o.NTasksPerNode > 0)
	default:
		add("--cpus-per-task=", int64(o.CPUsPerTask), o.CPUsPerTask > 1)
	}
	return found
}
