package api

import (
	"cmp"

	"github.com/varq-project/varq/predictor/workload"
)

// The states of a reservation.
const (
	StatePromised = "PROMISED" // promised, and not bound to a job
	StatePending  = "PENDING"  // the job is pending
	StateHolding  = "HOLDING"  // the job has started, and its nodes idle until HoldUntil
	StateRunning  = "RUNNING"  // the work runs
	// settled: the job started by BeginBy and lasted until its work began, or it ended by FinishBy
	StateKept   = "KEPT"
	StateMissed = "MISSED" // settled: the promise was not kept
	// settled: never submitted, cancelled early, or not kept after a change by the user
	StateCancelled = "CANCELLED"
)

// SettledStates are the states of a settled reservation, and States are all states.
var (
	SettledStates = []string{StateKept, StateMissed, StateCancelled}
	States        = append([]string{StatePromised, StatePending, StateHolding, StateRunning}, SettledStates...)
)

// Event is something that happened to a reservation.
type Event struct {
	At int64 `json:"at"`
	// of package ledger: bound, moved, limited, requeued, user, note, agreed, settled, corrected
	Kind string `json:"kind"`
	Text string `json:"text"`
}

// Waiting returns how many tasks of the reservation's array are still to start so that the promise
// is kept; 0 for a job that is no array.
func (r *Reservation) Waiting() int32 { return max(0, r.Tasks-r.Started) }

// NodesOf returns on how many nodes n of the tasks are at least.
func (r *Reservation) NodesOf(n int32) int32 {
	tasks := int64(max(1, cmp.Or(r.AtOnce, r.Tasks)))
	return int32((int64(r.TasksNodes)*int64(n) + tasks - 1) / tasks)
}

// Request returns the request of the reservation's job, or of a task, with a time limit, in
// seconds.
func (r *Reservation) Request(limit int64) workload.Request {
	return workload.Request{
		User: r.User, Account: r.Account, Partition: r.Partition, NodeSet: r.NodeSet, Reservation: r.Inside, QOS: r.QOS, Size: r.Size, Limit: limit,
	}
}

// Setting is a job's begin time, in Unix seconds, and its time limit, in seconds.
type Setting struct {
	BeginTime int64 `json:"begin_time"`
	TimeLimit int64 `json:"time_limit"`
}

// Reservation is one promise, the state of its job and, once settled, its outcome.
type Reservation struct {
	Plan
	Job int64 `json:"job,omitempty"`
	// Name is the job's name, with ? for characters that cannot be printed. It is empty
	// until varqd has seen the job in the queue.
	Name      string `json:"name,omitempty"`
	User      string `json:"user"`
	Account   string `json:"account"`
	Partition string `json:"partition"`
	// NodeSet lists the nodes of the partition on which alone the job may run. It is empty if the
	// job may run on any of them, or on all but a few.
	NodeSet string `json:"node_set,omitempty"`
	// Inside names the reservation of Slurm's that the job asks for, or is empty.
	Inside string `json:"inside,omitempty"`
	QOS    string `json:"qos,omitempty"`
	// Size is that of the job, or of a task of an array, and Pieces are what it needs of single
	// nodes.
	workload.Size
	Pieces workload.Pieces `json:"-"`
	// TasksNodes is on how many nodes the tasks of an array that the promise is about are at least,
	// or those of them that run at once.
	TasksNodes int32 `json:"-"`
	// Started is how many tasks of the array have started, without those that were gone before their
	// work began.
	Started int32 `json:"started_tasks,omitempty"`
	// Allocated is the number of nodes that the job was given when it started, which may be less
	// than its costs are of; 0 before.
	Allocated  int32  `json:"allocated_nodes,omitempty"`
	BestEffort bool   `json:"best_effort"`
	State      string `json:"state"`
	Promised   int64  `json:"promised_at"`
	// Now is the present forecast of the probability that the promise is kept, or nil if nothing is
	// forecast. It is 1 if the job has started by BeginBy.
	Now *float64 `json:"now,omitempty"`
	// Later is by when the job ends with the probability Prob, by the present forecast, if Now is
	// less than Prob and there is such a time. Only a reservation with FinishBy has it.
	Later int64 `json:"later,omitempty"`
	// Eligible is when the job became eligible, or 0. Once the work has begun, Eligible, Start and
	// WorkStart are of that run, also while the job waits again because it was requeued (State is
	// PENDING then).
	Eligible int64 `json:"eligible,omitempty"`
	// Start is when the job started, or 0. Of a job that was requeued see Eligible.
	Start int64 `json:"start,omitempty"`
	// WorkStart is when its work began, or 0. Of a job that was requeued see Eligible.
	WorkStart int64 `json:"work_start,omitempty"`
	// End is when the job ended, or 0 before the reservation is settled.
	End int64 `json:"end,omitempty"`
	// TakenBack is true of a reservation that was taken back and is not settled yet. Without a job
	// it counts for nobody.
	TakenBack bool `json:"taken_back,omitempty"`
	// HeldBefore is for how many seconds the job's nodes have idled in runs before the one of
	// Start, if Slurm has requeued it.
	HeldBefore int64 `json:"held_before,omitempty"`
	// WorkedBefore is for how many seconds the job has worked in runs before the one of Start,
	// which ended before its work was done: its nodes failed or were taken away. Only a reservation
	// with FinishBy has it.
	WorkedBefore int64 `json:"worked_before,omitempty"`
	// Evicted is true of a settled reservation if that is so of the run of Start, too.
	Evicted bool `json:"evicted,omitempty"`
	// Set is how varqd has set the job, or last saw it in the queue.
	Set Setting `json:"set"`
	// Yielded is true once somebody other than varqd has changed the job. varqd leaves it alone
	// from then on. Set and Size are then what the queue has shown last.
	Yielded bool `json:"yielded,omitempty"`
	// Ceiling is the cost of idle nodes before the work that no revision exceeds.
	Ceiling Cost `json:"ceiling"`
	// Rescue, if not nil, is what would keep the promise, which does not hold any more.
	Rescue *Rescue `json:"rescue,omitempty"`
	// Obstacle is why the promise is not kept with the job as it is, so that Now is 0, or why nothing
	// is forecast, so that Now is nil. It is a rule of Slurm's or another reason, in words without a
	// full stop, and may be empty.
	Obstacle string `json:"obstacle,omitempty"`
	// Note is the latest message for the user, for instance the reason why the promise was
	// missed.
	Note string `json:"note,omitempty"`
	// Events are what happened to the reservation, oldest first. They are there if the query
	// names a job.
	Events []Event `json:"events,omitempty"`
}

// Unused reports whether no job has taken the plan up, and none is expected: it was taken back, or
// is settled.
func (r *Reservation) Unused() bool {
	return r.Job == 0 && (r.TakenBack || r.State == StateCancelled)
}

// Has returns the number of nodes that the job, or all promised tasks, have had, or ask for if they
// have not started.
func (r *Reservation) Has() int32 { return cmp.Or(r.Allocated, r.Nodes*max(1, r.Tasks)) }
