package synthetic

import (
	"cmp"
	"container/heap"
	"slices"
)

// queue runs tasks first come, first served, with EASY backfilling: a later task may start
// first if it does not delay the task at the head of the queue.
type queue struct {
	config  Config
	free    []int32    // CPUs of every node
	running endHeap    // ordered by the true end
	planned []*running // the same tasks, ordered by start plus limit
	waiting []*task    // in the order of submission
}

// running is a task with its nodes.
type running struct {
	*task
	nodes []int
}

func newQueue(c Config) *queue {
	q := &queue{config: c, free: make([]int32, c.Nodes)}
	for i := range q.free {
		q.free[i] = int32(c.CPUs)
	}
	return q
}

// run sets the start and end of the tasks, which must be in the order of submission. Tasks
// that have not started when the history ends get neither.
func (q *queue) run(tasks []task) {
	for next := 0; next < len(tasks) || len(q.running) > 0; {
		now := q.config.End
		if next < len(tasks) {
			now = tasks[next].Submit
		}
		if len(q.running) > 0 {
			now = min(now, q.running[0].End)
		}
		if now >= q.config.End {
			return
		}
		for len(q.running) > 0 && q.running[0].End == now {
			q.end(heap.Pop(&q.running).(*running))
		}
		for ; next < len(tasks) && tasks[next].Submit == now; next++ {
			q.waiting = append(q.waiting, &tasks[next])
		}
		q.schedule(now)
	}
}

// schedule starts the tasks that can start now.
func (q *queue) schedule(now int64) {
	for len(q.waiting) > 0 {
		nodes, ok := q.place(q.waiting[0], q.free, q.free)
		if !ok {
			q.backfill(now)
			return
		}
		q.start(q.waiting[0], nodes, now)
		q.waiting = q.waiting[1:]
	}
}

// backfill starts tasks behind the head that do not delay it: they end before the head can
// start, or they use only CPUs that the head leaves free.
func (q *queue) backfill(now int64) {
	const depth = 100 // as Slurm's default_queue_depth
	shadow, spare := q.reserve(q.waiting[0])
	kept := q.waiting[:1]
	for i, t := range q.waiting[1:] {
		if i >= depth {
			kept = append(kept, q.waiting[1+i:]...)
			break
		}
		harmless := now+t.Limit <= shadow
		room := spare
		if harmless {
			room = q.free
		}
		nodes, ok := q.place(t, q.free, room)
		if !ok {
			kept = append(kept, t)
			continue
		}
		q.start(t, nodes, now)
		if !harmless {
			for _, n := range nodes {
				spare[n] -= t.CPUs / t.Nodes
			}
		}
	}
	q.waiting = kept
}

// reserve returns when the head can start if the running tasks use their whole limits, and
// which CPUs of each node are free then beside it.
func (q *queue) reserve(head *task) (shadow int64, spare []int32) {
	spare = slices.Clone(q.free)
	for _, r := range q.planned {
		for _, n := range r.nodes {
			spare[n] += r.CPUs / r.Nodes
		}
		if nodes, ok := q.place(head, spare, spare); ok {
			for _, n := range nodes {
				spare[n] -= head.CPUs / head.Nodes
			}
			return r.Start + r.Limit, spare
		}
	}
	return 0, spare // unreachable: the head fits an empty machine
}

// place chooses nodes that have enough CPUs for the task in both free and room.
func (q *queue) place(t *task, free, room []int32) ([]int, bool) {
	last := len(free)
	if t.Partition == "short" {
		last = q.config.ShortNodes
	}
	need := t.CPUs / t.Nodes
	found := int32(0)
	for n := range last {
		if min(free[n], room[n]) >= need {
			found++
		}
	}
	if found < t.Nodes {
		return nil, false
	}
	nodes := make([]int, 0, t.Nodes)
	// From the last node on, so that the first nodes stay free for the partition "short".
	for n := last - 1; len(nodes) < int(t.Nodes); n-- {
		if min(free[n], room[n]) >= need {
			nodes = append(nodes, n)
		}
	}
	return nodes, true
}

// start starts a task zero to two seconds after now, the time of the decision, as Slurm
// does.
func (q *queue) start(t *task, nodes []int, now int64) {
	t.Start = now + t.ID%3
	t.End = t.Start + t.runTime
	for _, n := range nodes {
		q.free[n] -= t.CPUs / t.Nodes
	}
	r := &running{t, nodes}
	heap.Push(&q.running, r)
	at, _ := slices.BinarySearchFunc(q.planned, r, byPlannedEnd)
	q.planned = slices.Insert(q.planned, at, r)
}

func (q *queue) end(r *running) {
	for _, n := range r.nodes {
		q.free[n] += r.CPUs / r.Nodes
	}
	at, _ := slices.BinarySearchFunc(q.planned, r, byPlannedEnd)
	q.planned = slices.Delete(q.planned, at, at+1)
}

func byPlannedEnd(a, b *running) int {
	return cmp.Or(cmp.Compare(a.Start+a.Limit, b.Start+b.Limit), cmp.Compare(a.ID, b.ID))
}

// endHeap orders running tasks by their true end.
type endHeap []*running

func (h endHeap) Len() int { return len(h) }
func (h endHeap) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(h[i].End, h[j].End), cmp.Compare(h[i].ID, h[j].ID)) < 0
}
func (h endHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *endHeap) Push(x any)   { *h = append(*h, x.(*running)) }
func (h *endHeap) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}
