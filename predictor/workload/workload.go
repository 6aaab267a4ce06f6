// Package workload has the terms that all packages share: jobs, what they ask for, and the possible
// submissions that a forecaster is asked about. It does no I/O. Times are Unix seconds and
// durations are seconds, both int64, so that a live cluster, a replayed log and a simulation run
// the same code.
package workload

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Size is what a job asks a cluster for, in Slurm's trackable resources (TRES).
// Counts are totals over the whole job. A resource not asked for is 0.
type Size struct {
	Nodes  int32 `json:"nodes"`
	CPUs   int32 `json:"cpus"`
	GPUs   int32 `json:"gpus,omitempty"`
	Memory int64 `json:"memory,omitempty"` // MiB
	// Licences follow from what the job needs: varqd ignores what a user says of them.
	Licences Licences `json:"licences,omitempty"`
}

// Times returns n times the size; a count is at most the greatest int32.
func (s Size) Times(n int32) Size {
	return Size{Nodes: times(n, s.Nodes), CPUs: times(n, s.CPUs), GPUs: times(n, s.GPUs), Memory: int64(n) * s.Memory, Licences: s.Licences.Times(n)}
}

// times returns n times a count, but at most the greatest int32.
func times(n, count int32) int32 { return int32(min(int64(n)*int64(count), math.MaxInt32)) }

// Procs returns the processors, or the nodes where that is all that is known, and 1 at
// least.
func (s *Size) Procs() int32 { return max(1, s.CPUs, s.Nodes) }

// Request describes a job as the queue sees it: who asks, where, how much and
// for how long. Limit is the requested wall time in seconds.
type Request struct {
	User      string `json:"user,omitempty"`
	Account   string `json:"account,omitempty"`
	Partition string `json:"partition,omitempty"`
	// NodeSet lists the nodes of the partition on which alone the job may run, as Slurm writes them
	// ("gpu[1-4]"). It is empty if the job may run on any of them, or on all but a few. It follows
	// from what the job needs: varqd ignores what a user says of it.
	NodeSet string `json:"node_set,omitempty"`
	// Line names the jobs from whose waits the job's own is forecast, if these are not all jobs of
	// its partition but those of its NodeSet, and with licences like its own.
	Line string `json:"-"`
	QOS  string `json:"qos,omitempty"`
	// Reservation is that of Slurm's own reservations that the job asks for. It follows from what the
	// job needs, as NodeSet does.
	Reservation string `json:"reservation,omitempty"`
	// Nice is by how much its user lowers the job's priority, as of sbatch --nice.
	Nice int64 `json:"nice,omitempty"`
	Size
	Limit int64 `json:"limit"`
}

// Narrow reports whether the job may run on some nodes of its partition only, or needs licences
// that can run out, and too few jobs like it are known. Its own wait tells nothing of the waits of
// others.
func (r *Request) Narrow() bool { return (r.NodeSet != "" || r.Licences != "") && r.Line == "" }

// Queue names the jobs from whose waits the job's own is forecast: Line or, without one, Partition.
func (r *Request) Queue() string { return cmp.Or(r.Line, r.Partition) }

// Place is where a job may run: on the nodes of NodeSet or, if that is empty, on any of the
// partition.
type Place struct{ Partition, NodeSet string }

// Place returns where the job may run.
func (r *Request) Place() Place { return Place{r.Partition, r.NodeSet} }

// Job is one job of a history, or of the queue. A time not known, or not
// reached yet, is 0.
type Job struct {
	ID int64
	Request
	// Array is the job array that the job is a task of, or 0. While tasks of an array
	// wait they are one job, with the ID of the array and as many Tasks. AtOnce is how
	// many tasks of the array may run at once, or 0 for no limit. Tasks is 0 for any
	// other job.
	Array         int64
	Tasks, AtOnce int32
	// Given is how many processors Slurm gave to the job when it started, which may be more than
	// it asked for, or will give it at least if it waits; 0 where that is not known.
	Given int32
	// On are the nodes that the job has, by name; empty where they are not known. They are not
	// to be changed.
	On []string
	// Needs is what the job needs of its nodes, as far as its source tells before the NodeSet of its
	// Request is known; nil otherwise.
	Needs *Needs
	// AtLimit is true of a job that waits if a limit on what its user or account may have at once
	// keeps it from starting, or if it waits for the nodes of one of Slurm's own reservations: it
	// is not ahead of the jobs of others. It is true of a job that has started if it has waited so
	// for a time.
	AtLimit bool
	// QOSFull is true of a job that waits if a limit on what all jobs of its QOS may have at once
	// keeps it from starting: it is not ahead of the jobs of another QOS.
	QOSFull bool
	// Priority is Slurm's of a job that waits, without what its Aging has added: the higher goes
	// first. It is 0 where that is not known, as in any log. Of a job that has started it is the
	// one that was seen first.
	Priority int64

	Submit   int64 // entered the queue
	Eligible int64 // could have started: after its begin time and dependencies
	Start    int64
	End      int64
	State    State
	// Evicted is true if the state is Failed because Slurm took the nodes away: one failed, or
	// they were given to another job. It is false where that is not known.
	Evicted bool
	// Expired is true if the state is Cancelled because Slurm ended the job before it started, as
	// it could not have ended by its --deadline any more. It is false where that is not known.
	Expired bool
	// Unfulfilled is true if the state is Cancelled because Slurm ended the job before it started, as
	// what it waited for could not come true any more. It is false where that is not known.
	Unfulfilled bool
	Comment     string // as its user and varq wrote it, where known
	// Series is what the job's name has in common with those of jobs like it, where known: see
	// SeriesOf.
	Series string
}

// Submission identifies one submission of a job. Slurm may use an ID again.
type Submission struct{ ID, Submit int64 }

// Submission returns which submission the job is.
func (j *Job) Submission() Submission { return Submission{j.ID, j.Submit} }

// Precedes reports whether j, which waits, may be ahead of jobs of a QOS: no limit keeps it from
// starting, or one that is theirs, too.
func (j *Job) Precedes(qos string) bool { return !j.AtLimit && (!j.QOSFull || j.QOS == qos) }

// MayRunIn reports whether Slurm may start the job in a partition: while it waits, its Partition
// may list several.
func (j *Job) MayRunIn(partition string) bool {
	return slices.Contains(strings.Split(j.Partition, ","), partition)
}

// Count returns how many jobs j stands for: 1, or as many as it has tasks that wait.
func (j *Job) Count() int { return int(max(1, j.Tasks)) }

// Since returns when the job began to wait: Eligible or, where that is not known, Submit.
func (j *Job) Since() int64 { return cmp.Or(j.Eligible, j.Submit) }

// Wait returns the queueing delay start - eligible in seconds. It reports false
// when the job has not started, or its times contradict one another. It also reports
// false when the job was AtLimit: forecasts know nothing of what it then waited for, and
// the delay must teach them nothing.
func (j *Job) Wait() (seconds int64, ok bool) {
	since := j.Since()
	if j.AtLimit || j.Start == 0 || since == 0 || j.Start < since {
		return 0, false
	}
	return j.Start - since, true
}

// State is the part of Slurm's job state that queueing and accounting need.
type State uint8

// The states of a job. Failures of every kind, and preemption, are Failed.
const (
	Unknown State = iota
	Pending
	Running // and suspended, configuring, completing
	Completed
	Cancelled
	Failed
	TimedOut
	Requeued
)

var stateNames = [...]string{"UNKNOWN", "PENDING", "RUNNING", "COMPLETED", "CANCELLED", "FAILED", "TIMEOUT", "REQUEUED"}

// String returns Slurm's name of the state.
func (s State) String() string {
	if int(s) < len(stateNames) {
		return stateNames[s]
	}
	return fmt.Sprintf("State(%d)", uint8(s))
}

// Finished reports whether the job has left the queue and the machine.
func (s State) Finished() bool { return s >= Completed }

// Candidate is one way of submitting a request: eligible from Submit on, with
// the time limit Limit, and of use only if it starts within Budget seconds of
// Submit.
type Candidate struct {
	Submit int64 // Unix seconds
	Limit  int64 // seconds
	Budget int64 // seconds
	// Job is the job if it has been submitted already, and 0 otherwise. The queue may
	// have it, and it is not ahead of itself.
	Job int64
}

// Pieces are what a job needs of single nodes, as far as that is known. No piece can be spread over
// nodes.
type Pieces struct {
	Count int32 // or 0 if nothing is known
	// Each is the CPUs, GPUs and memory of a piece. It does not count if Exclusive is true: then
	// each piece is a node that no other job is on.
	Each      Size
	Exclusive bool
}

// Times returns what n jobs with these pieces need of single nodes, as far as that is known. Those
// of several jobs may be on one node, unless they are whole nodes.
func (p Pieces) Times(n int32) Pieces {
	p.Count = times(n, p.Count)
	return p
}

// LimitSlack is by how many seconds, at most, the time limit that varq sets is longer than the work
// and the hold take: limits are whole minutes, and while nodes are held one more is for clocks that
// differ.
const LimitSlack = 120

// Claim is what a job claims of the cluster: one for which a promise was made already, or that asks
// for one.
type Claim struct {
	Request // Limit is that of the work
	Pieces  Pieces
	// Job is the job, or 0 before it is submitted. Runs is true once it has started.
	Job  int64
	Runs bool
	// Plain is true of a job without a promise that is not eligible before Start. It takes nothing
	// from a job that has its nodes before then.
	Plain bool
	// Start is when the job has its nodes, or is expected to get them, and From when its work
	// begins or has begun. Both are in Unix seconds, and Start is at most From.
	Start, From int64
	// Names are the nodes of the claim, if it is one of Slurm's own reservations. A node is in one
	// claim at a time.
	Names []string
}

// Alone reports whether c is a reservation that has its nodes alone, and not only a piece of each.
func (c *Claim) Alone() bool { return c.Names != nil && c.Pieces.Count == 0 }

// Equal reports whether two claims are the same.
func (c *Claim) Equal(o *Claim) bool {
	return c.Job == o.Job && c.Start == o.Start && c.From == o.From && c.Runs == o.Runs && c.Plain == o.Plain &&
		c.Request == o.Request && c.Pieces == o.Pieces && slices.Equal(c.Names, o.Names)
}

// Room bounds the probability that a job's work runs from a time on, by the room that there is.
type Room struct {
	// Prob is the bound if the job gets its nodes at that time.
	Prob float64
	// Holding has what holds besides if the job has its nodes at an earlier time already, in
	// increasing order of time.
	Holding []Hold
	// Late has what holds besides if the job has not got its nodes before a time, from which on
	// others, such as plain jobs, leave less room: in increasing order of time, and decreasing
	// probability.
	Late []Hold
	// Next are later times, Unix seconds, from which on there may be more room.
	Next []int64
}

// Hold is a bound on a probability, for a job that has its nodes at the time At, Unix seconds, or,
// if it is one of Late, has not had them before.
type Hold struct {
	At   int64
	Prob float64
}

// And returns the room of a job that needs both r and another.
func (r Room) And(other Room) Room {
	ascending := func(a, b Hold) int { return cmp.Compare(a.At, b.At) }
	r.Prob = min(r.Prob, other.Prob)
	r.Holding = slices.Concat(r.Holding, other.Holding)
	slices.SortStableFunc(r.Holding, ascending)
	r.Late = slices.Concat(r.Late, other.Late)
	slices.SortStableFunc(r.Late, ascending)
	for i := 1; i < len(r.Late); i++ {
		r.Late[i].Prob = min(r.Late[i].Prob, r.Late[i-1].Prob)
	}
	r.Next = slices.Concat(r.Next, other.Next)
	return r
}

// Within returns the bound if the job is expected to get its nodes at the time start, and gets them
// by the time last.
func (r *Room) Within(start, last int64) float64 {
	prob := r.Prob
	for _, h := range r.Holding {
		if h.At >= start {
			prob = min(prob, h.Prob)
		}
	}
	for _, h := range r.Late {
		if h.At <= last {
			prob = min(prob, h.Prob)
		}
	}
	return prob
}

// Free returns the first time from a given one on at which a job may get its nodes and hold them
// until the room's time without being in the way of others.
func (r *Room) Free(from int64) int64 {
	for _, h := range r.Holding {
		if h.Prob < r.Prob {
			from = max(from, h.At+1)
		}
	}
	return from
}

// Last returns by when the job must have its nodes so that there is room with a probability by
// Late. It reports false if there is anyway.
func (r *Room) Last(prob float64) (start int64, ok bool) {
	for _, h := range r.Late {
		if h.Prob < prob {
			return h.At - 1, true
		}
	}
	return 0, false
}

// Estimate is a forecaster's answer about one Candidate.
type Estimate struct {
	// Prob is a conservative estimate (a lower confidence bound) of the
	// probability that the job starts within the candidate's budget. It is 0
	// when nothing is known.
	Prob float64
	// Forecast is the forecast of this probability. Prob is more careful: Bound is the lower
	// confidence bound of Forecast, and Prob counts the risk of a miss as many times more as
	// promises were missed more often than forecast.
	Forecast, Bound float64
	// Held is the expected number of seconds, out of the budget, that the job
	// would already hold its nodes: E[max(0, Budget - wait)].
	Held float64
	// Sample is the number of past waits behind the estimate.
	Sample int
	// Class names the job class whose past was used.
	Class string
	// Beyond is how far the queue lies beyond all that was learnt from, from 0 to 1: as far
	// as that, the estimate follows simulations of the queue instead of past waits.
	Beyond float64
	// Taken is the probability that running jobs and promises made before leave no room for the
	// job at the end of the budget. Prob is at most 1 - Taken.
	Taken float64
	// Down says why nothing can be promised now, as during an outage: a sentence
	// without a full stop. It is empty in normal times.
	Down string
}
