// Package accounting holds what varq reads from Slurm and asks of it, whatever
// the way: slurmrestd, the command line tools or a log in the Standard Workload
// Format. The sources themselves are the packages below.
package accounting

import (
	"context"
	"errors"
	"iter"

	"github.com/varq-project/varq/predictor/limits"
	"github.com/varq-project/varq/predictor/workload"
)

// The kinds of failure that a caller may act on. Errors of every source wrap
// one of them where it applies.
var (
	// ErrNotFound: no such job, or none that the caller may see.
	ErrNotFound = errors.New("not found")
	// ErrPermission: Slurm refused it to this user.
	ErrPermission = errors.New("permission denied")
	// ErrRefused: Slurm understood the request and refused it, because of a
	// limit or of the job's state.
	ErrRefused = errors.New("refused by Slurm")
	// ErrUnavailable: Slurm cannot answer now; trying again may help.
	ErrUnavailable = errors.New("no answer from Slurm")
)

// UnlimitedTime stands for a time limit of UNLIMITED: 365 days in seconds, which
// is also how long Slurm's own scheduler takes such a job to run.
const UnlimitedTime int64 = 365 * 24 * 3600

// Historian reads past jobs.
type Historian interface {
	// History yields the jobs that started or ended in [from, to), Unix
	// seconds, and perhaps others that overlap it: window by window, in no
	// order within one. A job that was still running when it was first read
	// comes again, with its end, when a later interval is read; (ID, Submit)
	// identifies it, since every requeue is a job of its own. After each
	// window progress, if not nil, is told how far the history is complete;
	// reading may be resumed from there, less the seconds by which Slurm's
	// accounting lags. The first error ends the sequence.
	History(ctx context.Context, from, to int64, progress func(Progress)) iter.Seq2[workload.Job, error]
}

// Progress tells how far a history has been read.
type Progress struct {
	From, To int64 // the interval asked for, Unix seconds
	Complete int64 // every job that ended before it has been yielded
	Jobs     int   // yielded so far
}

// Archivist looks up single jobs in accounting.
type Archivist interface {
	// Accounted returns what accounting knows of the job id, oldest submission
	// first: each requeue is a submission of its own, and ids are used again
	// when a cluster's state is lost. With nothing known it returns none.
	Accounted(ctx context.Context, id int64) ([]workload.Job, error)
}

// Controller reads the live queue and changes jobs in it. Every method fails
// with an error that wraps ErrUnavailable while Slurm cannot be reached.
type Controller interface {
	// Ping reports whether slurmctld answers.
	Ping(ctx context.Context) error
	// Queue returns every pending and running job, by id.
	Queue(ctx context.Context) ([]QueueEntry, error)
	// Job returns one pending or running job, or ErrNotFound.
	Job(ctx context.Context, id int64) (QueueEntry, error)
	// Operators returns the users who may see and change everybody's jobs: those
	// with an administrator level in accounting, and SlurmUser where it is known.
	Operators(ctx context.Context) ([]string, error)
	// Nodes returns every node, by name.
	Nodes(ctx context.Context) ([]Node, error)
	// Cluster returns what the configuration and the accounting database forbid.
	Cluster(ctx context.Context) (limits.Cluster, error)
	// Update changes one job.
	Update(ctx context.Context, u Update) error
	// Cancel removes a job from the queue or ends it.
	Cancel(ctx context.Context, job int64) error
}

// QueueEntry is a job of the live queue. The Start of a pending job is 0, and
// its Eligible the moment it may start: its begin time, if that is to come, or 0
// while it is held or depends on another job.
type QueueEntry struct {
	workload.Job
	Name       string
	Reason     string // why it is pending, as Slurm writes it ("BeginTime", "Priority")
	Dependency string
	Priority   int64
	Held       bool   // by its user or an administrator
	Nodes      string // hostlist, empty while pending
	// ArrayJob is the id of the job array, 0 for an ordinary job. ArrayTasks
	// names this entry's tasks: "7", or "1-4,8" for tasks not split off yet.
	ArrayJob   int64
	ArrayTasks string
	// HetJob is the id of a heterogeneous job's leader, 0 for an ordinary job.
	HetJob       int64
	RestartCount int
}

// Node is one compute node.
type Node struct {
	Name       string
	CPUs       int32
	Memory     int64 // MiB
	GPUs       int32
	Partitions []string
	// Up is false for a node that is down, failed, powered off for good, or
	// unreachable.
	Up bool
	// Drained is true for a node that takes no new jobs: drained, draining,
	// or in maintenance.
	Drained bool
	State   string // as Slurm writes it, flags joined by "+": "IDLE+DRAIN"
	Reason  string
}

// Update changes a job. A field of 0 or nil leaves its part of the job alone.
type Update struct {
	Job       int64
	BeginTime int64 // Unix seconds; a time gone by lets the job start now
	TimeLimit int64 // seconds; Slurm counts minutes, so it is rounded up
	Comment   *string
}
