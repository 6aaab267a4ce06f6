package rollout

import (
	"cmp"
	"slices"
	"sort"

	"github.com/varq-project/varq/predictor/cluster/sched"
)

// Order is the order in which a queue's tasks are considered.
type Order uint8

// The orders of a queue.
const (
	FCFS     Order = iota // first come, first served
	LWF                   // least work first: processors times limit
	Priority              // by Slurm's priority, then by rank, and first come, first served among equals
)

// Orders is the number of orders.
const Orders = 3

// Policy says how a Machine starts its tasks.
type Policy struct {
	Order    Order
	Backfill sched.Backfill // NoBackfill or EASY; any other counts as EASY
}

// String returns the policy in words: "FCFS with EASY backfilling".
func (p Policy) String() string {
	order := [...]string{"FCFS", "least work first", "priorities"}[p.Order]
	if p.Backfill == sched.NoBackfill {
		return order + " without backfilling"
	}
	return order + " with EASY backfilling"
}

// Compare compares the places of two tasks in the queue. Tasks that compare as equal
// keep the order in which they came.
func (p Policy) Compare(a, b Task) int {
	switch p.Order {
	case LWF:
		return cmp.Compare(a.work(), b.work())
	case Priority:
		return cmp.Or(cmp.Compare(b.Priority, a.Priority), cmp.Compare(a.Rank, b.Rank), cmp.Compare(a.Submit, b.Submit))
	}
	return cmp.Compare(a.Submit, b.Submit)
}

// Sort sorts tasks from the order of their submission into the order of the queue.
func (p Policy) Sort(tasks []Task) {
	if p.Order != FCFS {
		slices.SortStableFunc(tasks, p.Compare)
	}
}

// Place returns how many tasks are ahead of t. The tasks are in the order of the queue. A
// task that compares as equal to t is ahead of it.
func (p Policy) Place(tasks []Task, t Task) int {
	return sort.Search(len(tasks), func(i int) bool { return p.Compare(tasks[i], t) > 0 })
}
