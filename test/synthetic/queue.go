package synthetic

import (
	"cmp"
	"container/heap"
	"slices"
)

// queue runs tasks first come, first served, with EASY backfilling: a later
// task may go first when it does not delay the one at the head of the queue.
type queue struct {
	config  Config
	free    []int32    // CPUs of every node
	running endHeap    // by the true end
	planned []*running // the same tasks, by the end that the scheduler sees
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

// run gives the tasks, which are in order of submission, their start and end.
// Those that have not started when the past ends get none.
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

// schedule starts what can start now.
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

// backfill starts tasks behind the head that end before it can start, or leave
// alone the CPUs it will start on.
func (q *queue) backfill(now int64) {
	const depth = 100 // how far down the queue Slurm looks by default, too
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

// reserve finds when the head can start, going by the running tasks' limits,
// and the CPUs that are free then beside it.
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
	return 0, spare // never: the head fits an empty machine
}

// place chooses nodes for a task that have enough CPUs in both counts.
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
	// From the last node on, so that the first are left to the short tasks.
	for n := last - 1; len(nodes) < int(t.Nodes); n-- {
		if min(free[n], room[n]) >= need {
			nodes = append(nodes, n)
		}
	}
	return nodes, true
}

// start starts a task. Slurm takes up to two seconds from its decision on.
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
