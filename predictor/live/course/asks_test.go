package course

import (
	"testing"

	"github.com/varq-project/varq/predictor/live/ledger"
	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/workload"
)

// An older ledger lacks a part of what a job asks for if varq did not read that part then. The
// missing part does not count as a change.
func TestAsksOfBefore(t *testing.T) {
	var j slurm.QueueEntry
	j.Partition, j.Nodes = "main", 2
	j.Shape = slurm.Shape{Licenses: "matlab:1", Contiguous: true, Deadline: 1767225600, Switches: 1}
	j.Nice = 5
	for before, want := range map[string]string{
		"partition=main&nodes=2&other+resources=": "",
		"partition=main&nodes=3&other+resources=": "nodes from 3 to 2",
	} {
		if got := changed(before, Asks(&j)); got != want {
			t.Errorf("%s: changed: %q", before, got)
		}
	}
}

// TestUnlikeByOneGPU: one GPU is not several.
func TestUnlikeByOneGPU(t *testing.T) {
	e := &ledger.Entry{}
	e.Size = workload.Size{Nodes: 1, CPUs: 1}
	for gpus, want := range map[int32]string{0: "", 1: "it asks for 1 GPU instead of 0", 2: "it asks for 2 GPUs instead of 0"} {
		j := workload.Job{Request: workload.Request{Size: workload.Size{Nodes: 1, CPUs: 1, GPUs: gpus}}}
		if got := Unlike(e, &j); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
