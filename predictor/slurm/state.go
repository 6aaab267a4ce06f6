package slurm

import (
	"slices"
	"strings"

	"github.com/varq-project/varq/predictor/workload"
)

// baseStates has Slurm's base job states. A job is in exactly one of these.
var baseStates = map[string]workload.State{
	"PENDING":       workload.Pending,
	"RUNNING":       workload.Running,
	"SUSPENDED":     workload.Running,
	"COMPLETED":     workload.Completed,
	"CANCELLED":     workload.Cancelled,
	"FAILED":        workload.Failed,
	"TIMEOUT":       workload.TimedOut,
	"NODE_FAIL":     workload.Failed,
	"PREEMPTED":     workload.Failed,
	"BOOT_FAIL":     workload.Failed,
	"DEADLINE":      workload.Cancelled, // by Slurm: see Expired
	"OUT_OF_MEMORY": workload.Failed,
}

// flagStates has the job state flags that matter beside the base state. Older versions of
// Slurm write some flags instead of the base state.
var flagStates = map[string]workload.State{
	"COMPLETING":    workload.Running, // still holds its nodes
	"CONFIGURING":   workload.Running,
	"RESIZING":      workload.Running,
	"SIGNALING":     workload.Running,
	"STAGE_OUT":     workload.Running,
	"STOPPED":       workload.Running,
	"POWER_UP_NODE": workload.Running,
	"REQUEUED":      workload.Requeued,
	"REQUEUE_FED":   workload.Requeued,
	"REQUEUE_HOLD":  workload.Pending,
	"SPECIAL_EXIT":  workload.Pending,
	"RESV_DEL_HOLD": workload.Pending,
	"REVOKED":       workload.Cancelled,
	"LAUNCH_FAILED": workload.Failed,
	"RECONFIG_FAIL": workload.Failed,
}

// Evicted reports whether Slurm's state of a job says that its nodes were taken away. words are as
// for ParseState.
func Evicted(words ...string) bool {
	return slices.ContainsFunc(words, func(word string) bool {
		return slices.Contains([]string{"NODE_FAIL", "PREEMPTED", "BOOT_FAIL", "LAUNCH_FAILED", "RECONFIG_FAIL"}, strings.ToUpper(word))
	})
}

// Expired reports whether Slurm's state of a job says that it could not have ended by its
// --deadline any more: Slurm then ends it before it has started. words are as for ParseState.
func Expired(words ...string) bool {
	return slices.ContainsFunc(words, func(word string) bool { return strings.EqualFold(word, "DEADLINE") })
}

// Unfulfilled reports whether Slurm itself has cancelled a job that has not started, as what it
// waited for could not come true any more (kill_invalid_depend). reason is why it waited, in
// accounting: Slurm 22.05 keeps it, later ones forget it. by is the user who has cancelled the job,
// or "": 22.05 keeps the reason then, too.
func Unfulfilled(reason, by string, state workload.State) bool {
	forgotten := reason == "" || reason == "None"
	return state == workload.Cancelled && by == "" && (forgotten || reason == "Dependency" || reason == NeverSatisfied)
}

// ParseState returns varq's state of a job from Slurm's. Slurm writes one word ("PENDING"),
// a word with a remark ("CANCELLED by 1000", "CANCELLED+"), or, from v0.0.40 of the API on,
// a base state and flags. ParseState ignores unknown words. If all words are unknown, the
// state is Unknown.
func ParseState(words ...string) workload.State {
	base, flag := workload.Unknown, workload.Unknown
	for _, word := range words {
		word, _, _ = strings.Cut(strings.ToUpper(word), " ")
		word = strings.TrimRight(word, "+")
		if state, ok := baseStates[word]; ok {
			base = state
		} else if state, ok := flagStates[word]; ok && flag != workload.Requeued {
			flag = state
		}
	}
	switch {
	case flag == workload.Requeued, base == workload.Unknown:
		return flag
	case base != workload.Pending && flag == workload.Running:
		return workload.Running
	}
	return base
}
