package jobsize

import (
	"fmt"
	"math"
)

// mostNodes returns the greatest number of nodes that Slurm may spread the job over. A range of
// --nodes is an error. Without --nodes Slurm takes as few nodes as suffice of those that are free
// in part, and so up to one node a task, or a GPU. But a job of one task stays on one node, and
// with --ntasks-per-node each node has that many tasks, unless the GPUs of --gpus lie apart: then
// it may have as few as one task and one GPU. With --ntasks-per-gpu the tasks are where the GPUs
// are.
func (o Options) mostNodes() (int32, error) {
	nodes, tasks, err := o.nodesAndTasks()
	if err != nil {
		return 0, err
	}
	if o.Nodes != "" {
		if least, most, err := nodeRange(o.Nodes); err == nil && least != most {
			return 0, fmt.Errorf("--nodes: %.40q leaves the number of nodes open, and with it what a reservation costs at most: give one number, such as %d", o.Nodes, most)
		}
		return int32(nodes), nil
	}
	gpus := int64(0)
	if o.GPUs != "" {
		if gpus, err = typedCount(o.GPUs); err != nil {
			return 0, fmt.Errorf("--gpus: %w", err)
		}
	}
	switch {
	case o.NTasks == 0:
		nodes = max(nodes, gpus)
	case o.NTasksPerNode == 0:
		nodes = max(nodes, tasks)
	default:
		nodes = max(nodes, min(tasks, gpus))
	}
	if o.NTasksPerGPU > 0 && gpus > 0 {
		nodes = min(nodes, gpus)
	}
	return int32(min(nodes, math.MaxInt32)), nil
}
