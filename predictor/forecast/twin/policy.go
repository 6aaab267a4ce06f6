package twin

import (
	"cmp"
	"sort"

	"github.com/varq-project/varq/predictor/cluster/sched"
)

// Order is in which order jobs are thought of.
type Order uint8

// The orders of a queue.
const (
	FCFS     Order = iota // first come, first served
	LWF                   // least work first: processors times limit
	Priority              // classes that pass others first, of equal ones first come, first served
)

// Orders is the number of orders.
const Orders = 3

// Policy is how a machine's jobs are started.
type Policy struct {
	Order    Order
	Backfill sched.Backfill // none, or EASY, for which all others are taken
}

// candidates are the policies of which the one is found out that is in force. What
// comes first is believed until something else is known.
var candidates = [...]Policy{
	{FCFS, sched.EASY},
	{FCFS, sched.NoBackfill},
	{LWF, sched.EASY},
	{LWF, sched.NoBackfill},
	{Priority, sched.EASY},
	{Priority, sched.NoBackfill},
}

// String returns the policy in words: "FCFS with EASY backfilling".
func (p Policy) String() string {
	order := [...]string{"FCFS", "least work first", "priorities"}[p.Order]
	if p.Backfill == sched.NoBackfill {
		return order + " without backfilling"
	}
	return order + " with EASY backfilling"
}

// compare compares the places of two tasks in the order of the queue; of equal ones
// the first comes first that came first.
func (p Policy) compare(a, b task) int {
	if p.Order == LWF {
		return cmp.Compare(int64(a.procs)*a.limit, int64(b.procs)*b.limit)
	}
	if p.Order == Priority {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.submit, b.submit))
	}
	return cmp.Compare(a.submit, b.submit)
}

// place returns how many of the tasks, which are in the order of the queue, are ahead
// of one that comes last of its equals.
func (p Policy) place(tasks []task, t task) int {
	return sort.Search(len(tasks), func(i int) bool { return p.compare(tasks[i], t) > 0 })
}
