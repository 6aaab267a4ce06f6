package swf

import (
	"fmt"

	"github.com/varq-project/varq/predictor/workload"
)

// Unknown is how the format writes a value that is not known.
const Unknown = -1

// The values of Record.Status.
const (
	StatusFailed    = 0
	StatusCompleted = 1
	StatusPartial   = 2 // one part of a checkpointed job, to be continued
	StatusLast      = 3 // its last part, completed
	StatusLastFail  = 4 // its last part, failed
	StatusCancelled = 5
)

// Record is one line of a log: the 18 fields of the format, in its order and
// units. Each is Unknown where the log does not tell.
type Record struct {
	Job         int64
	Submit      int64   // seconds since the log's start
	Wait        int64   // seconds
	Run         int64   // seconds
	Procs       int64   // processors allocated
	CPUTime     float64 // seconds, average of the processors
	Memory      int64   // KiB used, average of the processors
	ReqProcs    int64
	ReqTime     int64 // seconds
	ReqMemory   int64 // KiB for each processor
	Status      int64
	User        int64
	Group       int64
	Executable  int64
	Queue       int64
	Partition   int64
	PrecedingID int64
	ThinkTime   int64 // seconds since the preceding job ended
}

// Started reports whether the job ever ran. A cancelled job without a run time
// never did: its Wait is how long it had waited when it was cancelled.
func (r *Record) Started() bool {
	return r.Wait >= 0 && (r.Run > 0 || r.Run == 0 && r.Status != StatusCancelled)
}

// state is the job's final state. A job of unknown status that ran counts as
// completed.
func (r *Record) state() workload.State {
	switch r.Status {
	case StatusFailed, StatusLastFail:
		return workload.Failed
	case StatusCompleted, StatusPartial, StatusLast:
		return workload.Completed
	case StatusCancelled:
		return workload.Cancelled
	}
	if r.Run >= 0 {
		return workload.Completed
	}
	return workload.Unknown
}

// converter turns records into jobs, with names from the header.
type converter struct {
	start              int64 // Unix seconds at which the log starts
	procsPerNode       int64
	queues, partitions names
	users, groups      names
}

func newConverter(h *Header) *converter {
	c := &converter{
		start:        h.UnixStartTime,
		procsPerNode: 1,
		queues:       newNames("queue", h.Queues),
		partitions:   newNames("partition", h.Partitions),
		users:        newNames("user", nil),
		groups:       newNames("group", nil),
	}
	if h.MaxNodes > 0 && h.MaxProcs > h.MaxNodes {
		c.procsPerNode = (h.MaxProcs + h.MaxNodes - 1) / h.MaxNodes
	}
	return c
}

func (c *converter) job(r *Record) workload.Job {
	procs := r.ReqProcs
	if procs <= 0 {
		procs = max(0, r.Procs)
	}
	job := workload.Job{
		ID: r.Job,
		Request: workload.Request{
			User:    c.users.name(r.User),
			Account: c.groups.name(r.Group),
			Size: workload.Size{
				Nodes:  int32((procs + c.procsPerNode - 1) / c.procsPerNode),
				CPUs:   int32(procs),
				Memory: max(0, r.ReqMemory) * procs / 1024,
			},
			Limit: max(0, r.ReqTime),
		},
		State: r.state(),
	}
	if r.Partition >= 0 {
		job.Partition, job.QOS = c.partitions.name(r.Partition), c.queues.name(r.Queue)
	} else {
		job.Partition = c.queues.name(r.Queue)
	}
	job.Submit = c.start + max(0, r.Submit)
	job.Eligible = job.Submit
	if r.Started() {
		job.Start = job.Submit + r.Wait
		job.End = job.Start + r.Run
	} else if r.Status == StatusCancelled {
		job.End = job.Submit + max(0, r.Wait)
	}
	return job
}

// names gives the numbers of one field names, each made once: that of the
// header where only one number has it, else the field and the number.
type names struct {
	field string
	known map[int64]string
}

func newNames(field string, header map[int64]string) names {
	uses := make(map[string]int)
	for _, name := range header {
		uses[name]++
	}
	known := make(map[int64]string)
	for number, name := range header {
		if name != "" && uses[name] == 1 {
			known[number] = name
		}
	}
	return names{field, known}
}

func (n names) name(number int64) string {
	if number < 0 {
		return ""
	}
	name, ok := n.known[number]
	if !ok {
		name = fmt.Sprintf("%s%d", n.field, number)
		n.known[number] = name
	}
	return name
}
