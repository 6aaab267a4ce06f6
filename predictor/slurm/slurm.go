// Package slurm has the types, errors and parsers that the packages slurmrestd, sacct and
// scontrol share: job states, TRES, kinds of errors, and time windows for long histories.
package slurm

import (
	"errors"
	"strings"

	"github.com/varq-project/varq/predictor/cluster/limits"
	"github.com/varq-project/varq/predictor/slurm/dependency"
	"github.com/varq-project/varq/predictor/slurm/engine"
	"github.com/varq-project/varq/predictor/workload"
)

// The kinds of failure that a caller may act on. The errors of the packages below wrap one
// of these if it applies.
var (
	// ErrNotFound: there is no such job, or the caller may not see it.
	ErrNotFound = errors.New("not found")
	// ErrPermission: this user may not do what was requested.
	ErrPermission = errors.New("permission denied")
	// ErrVersion: all versions of its API that slurmrestd serves are later than those that are
	// read.
	ErrVersion = errors.New("let slurmrestd serve a version before (its option -d), or install a later varq")
	// ErrRefused: Slurm understood the request and refused it because of a limit or
	// the job's state.
	ErrRefused = errors.New("refused by Slurm")
	// ErrUnavailable: Slurm cannot answer now; trying again may help.
	ErrUnavailable = errors.New("no answer from Slurm")
)

// UnlimitedTime stands for the time limit UNLIMITED, in seconds. It is 365 days: Slurm's
// scheduler plans such a job with the same time.
const UnlimitedTime int64 = 365 * 24 * 3600

// Progress tells how far a history has been read.
type Progress struct {
	From, To int64 // the interval asked for, Unix seconds
	Complete int64 // every job that ended before it has been yielded
	Jobs     int   // yielded so far
}

// QueueEntry is a job of the live queue. The Start of a pending job is 0. Its Eligible is the time
// from which it may start, which is in the future if its begin time is, or its Submit where Slurm
// tells none of a job that awaits its turn. Eligible is 0 while the job is held or depends on
// another job.
type QueueEntry struct {
	workload.Job
	Name       string
	Engine     engine.Job // what a workflow engine that has submitted it says of it
	Reason     string     // why it is pending, as Slurm writes it ("BeginTime", "Priority")
	Dependency string
	// Features, NodeList and Excluded are the nodes that its user has asked for, as sbatch's
	// --constraint, --nodelist and --exclude have them.
	Features, NodeList, Excluded string
	Shape                        Shape
	Exclusive                    bool // it shares its nodes with no other job, or with few
	Held                         bool // by its user
	// Stopped is why an operator or Slurm itself holds it, as Slurm writes it ("JobHeldAdmin"),
	// or empty.
	Stopped string
	// Interactive is true for a job of srun or salloc, which has no batch script.
	Interactive bool
	// ArrayJob is the id of the job array, or 0 for an ordinary job. ArrayTasks lists
	// this entry's tasks: "7", or "1-4,8" for tasks that Slurm has not split off yet.
	ArrayJob   int64
	ArrayTasks string
	// HetJob is the id of a heterogeneous job's leader, or 0 for an ordinary job.
	HetJob       int64
	RestartCount int
	// Expected is when Slurm itself expects to start a pending job, as its backfill last planned, or
	// 0: the start of squeue --start.
	Expected int64
	// Suspended is true for a job that an operator or Slurm has suspended: it has its nodes, and
	// none of its processes run.
	Suspended bool
	// SuspendTime is when it was suspended or resumed last, and RanBefore for how many seconds it
	// had run by then. Both are 0 if it never was.
	SuspendTime, RanBefore int64
	// Waking is true for a job that has its nodes, and waits until they are up: Slurm powers them
	// up or boots them, or its PrologSlurmctld runs. It is pending until then; Slurm sets its start
	// time anew once nodes that it has powered up are up.
	Waking bool
	// Completing is true for a job that has ended, or that was requeued, while its nodes are not
	// free yet. If it was requeued, its Start is when that was asked for.
	Completing bool
}

// NeverSatisfied is the Reason of a job whose dependency cannot come true any more.
const NeverSatisfied = "DependencyNeverSatisfied"

// SetEligible sets the eligible time of a pending job that waits for nothing but its turn, and of
// which Slurm tells none: before the scheduler has come to it, or of an array's tasks after some
// have started.
func (j *QueueEntry) SetEligible() {
	awaitsTurn := j.Reason == "None" || j.Reason == "Priority" || j.Reason == "Resources"
	if j.Eligible == 0 && awaitsTurn && j.Dependency == "" && j.Priority != 0 {
		j.Eligible = j.Submit
	}
}

// SetAtLimit sets AtLimit of a pending job. Of an array that may have only some tasks at once,
// AtOnce tells more.
func (j *QueueEntry) SetAtLimit() {
	j.AtLimit = j.Reservation != "" || j.AtOnce == 0 && AtLimit(j.Reason) && !j.ArrayFull()
}

// ArrayFull reports whether a task, or those that Slurm has not split off yet, wait until others of
// their array have ended: it has as many running as it lets run at once.
func (j *QueueEntry) ArrayFull() bool { return j.ArrayJob != 0 && j.Reason == "JobArrayTaskLimit" }

// NeverStarts reports whether what a pending job waits for cannot come true any more.
func (j *QueueEntry) NeverStarts() bool {
	return j.Reason == NeverSatisfied || dependency.NeverFulfilled(j.Dependency)
}

// Shape is what a pending job asks for, as its user can change it, beyond its workload.Size. Slurm
// does not bring that up to date with all of it: a change of the number of nodes that Slurm refuses
// may have changed CPUs. What is not known is 0.
type Shape struct {
	CPUs, Tasks, CPUsPerTask, CPUsPerNode int64 // CPUs and CPUsPerNode are the least numbers
	MemoryPerNode, MemoryPerCPU           int64 // MiB
	DiskPerNode                           int64 // MiB
	// TRES lists what else it asks for, such as GPUs by type and licences: "gres/gpu:a100=2".
	TRES string
	// Licenses are as of sbatch, each with its count ("matlab:1"), in order. Slurm completes them
	// so itself when it reads its configuration again.
	Licenses string
	// Reservation is Slurm's own reservation that the job is to run in.
	Reservation string
	Contiguous  bool
	Deadline    int64 // by which the job must have ended, as of sbatch --deadline, Unix seconds
	TimeMin     int64 // to which Slurm may lower its time limit to start it, seconds
	// Switches is the greatest number of switches that the user wants the nodes to be at; Slurm 22.05
	// does not tell it.
	Switches int64
}

// Node is one compute node.
type Node struct {
	Name string
	// Address and Hostname are NodeAddr and NodeHostname in slurm.conf: how slurmctld reaches the
	// node, and what the node calls itself.
	Address, Hostname string

	CPUs       int32
	Threads    int32 // CPUs of a core, or 0 if not known
	Memory     int64 // MiB
	Tmp        int64 // temporary disk, MiB
	GPUs       int32
	Features   []string
	Gres       map[string]int64 // as in limits.Node
	Partitions []string
	// Up is false for a node that is down, failed, powered off for good, or
	// unreachable.
	Up bool
	// Drained is true for a node that takes no new jobs: drained or draining. Maintenance is true
	// while one of Slurm's own reservations has the node for maintenance.
	Drained, Maintenance bool
	State                string // as Slurm writes it, flags joined by "+": "IDLE+DRAIN"
	// Reason is why it is down or takes no new jobs. What befalls it then Slurm appends after " :
	// ".
	Reason string
	// ReasonBy is the user who set the reason, and ReasonAt when that was, Unix seconds. They are
	// empty and 0 without a reason.
	ReasonBy string
	ReasonAt int64
	// ResumeAfter is when Slurm is to resume it by itself, Unix seconds, or 0 if never. Slurm 22.05
	// does not tell it.
	ResumeAfter int64
	// BootTime is when it booted, Unix seconds, or 0 if not known. It differs by a second from one
	// answer to another.
	BootTime int64
}

// LimitsNodes returns the nodes by name, as package limits has them: nil if none are known.
func LimitsNodes(nodes []Node) map[string]limits.Node {
	if len(nodes) == 0 {
		return nil
	}
	byName := make(map[string]limits.Node, len(nodes))
	for i := range nodes {
		n := &nodes[i]
		byName[n.Name] = limits.Node{
			Name: n.Name, CPUs: int64(n.CPUs), Threads: int64(n.Threads), Memory: n.Memory, Tmp: n.Tmp,
			Features: n.Features, Gres: n.Gres, Usable: n.Up && !n.Drained, Drained: n.Up && n.Drained,
			Awake: strings.HasPrefix(n.State, "IDLE") && !strings.Contains(n.State, "POWER"),
		}
	}
	return byName
}

// Update changes a job. A field of 0 or nil leaves its part of the job alone.
//
// An operator's change of a time limit exempts the job from all limits of Slurm on its time,
// for good. So a time limit is to be changed as the job's owner, whose changes Slurm checks.
type Update struct {
	Job int64
	// Owner, if not empty, is the job's user, and the change is made with her rights.
	// Slurm lets only SlurmUser and root act as other users.
	Owner     string
	BeginTime int64 // Unix seconds; a time gone by lets the job start now
	TimeLimit int64 // seconds; Slurm counts minutes, so it is rounded up
	Comment   *string
	// Resize, if not nil, gives the job another size, together with TimeLimit. If the job has
	// started, or starts meanwhile, Slurm refuses the whole change. If Slurm refuses it for another
	// reason, it may have made a part of it.
	Resize *Resize
}

// Resize is another size of a pending job.
type Resize struct {
	// Account is the job's account, as it is. Slurm changes the account of a pending job only, and
	// looks at that before all else: without it, Slurm 24.11 would take nodes away from a job that
	// has started.
	Account string
	Nodes   int32
	// Tasks is the number of tasks, or 0 if it follows from the nodes or stays.
	Tasks int64
	// CPUs and CPUsPerTask are those of the job on Nodes nodes.
	CPUs, CPUsPerTask int64
	// Fewer is true if the job had more nodes. Slurm itself counts CPUs anew, and memory with them,
	// only for more.
	Fewer bool
}
