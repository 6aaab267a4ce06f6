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
	FCFS Order = iota // first come, first served
	LWF               // least work first: processors times limit
	// by Slurm's priority, then by rank, and first come, first served among equals
	Priority
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

// Sort sorts tasks from the order of their submission into the order of the queue. It costs O(n log
// n) with n tasks.
func (p Policy) Sort(tasks []Task) {
	if p.Order == FCFS {
		return
	}
	var few [128]key // that need no room of the heap
	keys := few[:0]
	for i := range tasks {
		keys = append(keys, p.key(&tasks[i], int32(i)))
	}
	slices.SortFunc(keys, key.compare)
	arrange(tasks, keys)
}

// key is a task's place in the queue as Compare tells it: by first, then by rank, by submit, and by
// the place before sorting. Sorting moves and compares keys, as tasks are larger.
type key struct {
	first  int64
	submit int64
	at     int32 // the place before sorting
	rank   int8
}

func (p Policy) key(t *Task, at int32) key {
	if p.Order == LWF {
		return key{first: t.work(), at: at}
	}
	// the highest priority comes first
	return key{first: ^t.Priority, submit: t.Submit, at: at, rank: t.Rank}
}

func (k key) compare(other key) int {
	switch {
	case k.first != other.first:
		return cmp.Compare(k.first, other.first)
	case k.rank != other.rank:
		return cmp.Compare(k.rank, other.rank)
	case k.submit != other.submit:
		return cmp.Compare(k.submit, other.submit)
	}
	return cmp.Compare(k.at, other.at)
}

// arrange moves each task to where its key is.
func arrange(tasks []Task, keys []key) {
	for i := range keys {
		moved, to := tasks[i], i
		for from := int(keys[to].at); from != i; from = int(keys[to].at) {
			tasks[to], keys[to].at = tasks[from], int32(to)
			to = from
		}
		tasks[to], keys[to].at = moved, int32(to)
	}
}

// Place returns how many tasks are ahead of t. The tasks are in the order of the queue. A
// task that compares as equal to t is ahead of it.
func (p Policy) Place(tasks []Task, t Task) int {
	return sort.Search(len(tasks), func(i int) bool { return p.Compare(tasks[i], t) > 0 })
}
