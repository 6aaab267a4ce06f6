package slurmrestd

import (
	"strconv"

	"github.com/varq-project/varq/predictor/slurm"
)

// writeResize adds another size to the body of a change. Invariants, which TestLive holds against a
// real Slurm: of a job that has started the change is refused as a whole; of a pending one, nodes,
// tasks, processors and memory are afterwards those of a job that was submitted so (of fewer nodes,
// memory may count for more until the job starts).
func writeResize(body map[string]any, r *slurm.Resize, v version) {
	body["account"] = r.Account
	body["nodes"] = strconv.Itoa(int(r.Nodes)) // this number, no more and no less
	if r.Tasks > 0 {
		body["tasks"] = r.Tasks
	}
	switch {
	case !r.Fewer: // Slurm raises the number of processors itself
	case v <= lastFlat:
		body["cpus_per_task"] = max(1, r.CPUsPerTask) // by which it counts them
	default:
		body["minimum_cpus"] = r.CPUs
	}
}
