package twin

import (
	"math"
	"slices"

	"github.com/varq-project/varq/predictor/cluster/sched"
)

// task is a job that waits or will come.
type task struct {
	submit int64 // when it joins the queue
	limit  int64 // for how long it is planned, seconds
	run    int64 // how long it runs, seconds; no more than the limit
	procs  int32
	rank   int8 // of its class
}

// occupant is a job that runs.
type occupant struct {
	planned int64 // when it is thought to end
	end     int64 // when it ends
	procs   int32
	place   int32 // in the queue that it waited in, or -1
}

// blockSize is how many tasks of the queue are passed by at once, if none of them
// can start.
const blockSize = 64

// absent is the need of a task that is not in the queue.
const absent = math.MaxInt32

// cluster simulates one future of a machine: what sched and sim do without
// reservations, with no or EASY backfilling, and nothing else. All that will come
// is known when it begins, and so is everyone's place in the order of the queue:
// nothing has to be moved. With n tasks and r running jobs, an event costs O(log r)
// and n/blockSize looks, and those blocks are looked into of which a job may start.
//
// The zero cluster is ready to be loaded; its memory is kept.
type cluster struct {
	backfill sched.Backfill
	now      int64
	free     int32

	tasks  []task  // in the order of the queue
	starts []int64 // when each has started; sched.Never: not yet
	need   []int32 // processors, of tasks that wait; absent of others
	blocks []block
	head   int     // place of the first task that waits, or a place before it
	coming []int32 // places of the tasks that will come, by time

	running []occupant // a heap: the next to end is at index 0
	planned []release  // of the running jobs, ascending

	// shadow is when the first task of the queue will start at the latest, and
	// extra the processors left beside it then; known as long as nothing ends and
	// the same task is first.
	shadow int64
	extra  int32
	known  bool

	record *future // takes down what happens, unless it is nil
}

// block is what is known of all the tasks of a stretch of the queue that wait.
type block struct {
	need int32 // fewest processors
	span int64 // shortest planned time
}

// release is when processors are thought to become free.
type release struct {
	at    int64
	procs int32
}

// load makes the cluster that of a moment: jobs run that hold the rest of its
// processors, and tasks wait, or will come, in the order of the queue. The places
// of those that will come are given in the order of their submission, the running
// jobs in the order in which they are thought to end. Tasks and places are read
// until the next load.
func (c *cluster) load(now int64, free int32, running []occupant, tasks []task, coming []int32) {
	c.now, c.free, c.tasks = now, free, tasks
	c.head, c.known = 0, false
	c.coming = coming
	c.running = append(c.running[:0], running...)
	for i := len(running)/2 - 1; i >= 0; i-- {
		c.down(i)
	}
	c.planned = c.planned[:0]
	for _, o := range running {
		c.planned = append(c.planned, release{o.planned, o.procs})
	}
	c.starts, c.need = resize(c.starts, len(tasks)), resize(c.need, len(tasks))
	for i := range tasks {
		c.starts[i], c.need[i] = sched.Never, tasks[i].procs
	}
	for _, i := range coming {
		c.need[i] = absent
	}
	c.blocks = resize(c.blocks, (len(tasks)+blockSize-1)/blockSize)
	for b := range c.blocks {
		c.note(b)
	}
}

func resize[T any](s []T, n int) []T { return slices.Grow(s[:0], n)[:n] }

// note finds out anew what a block is to know.
func (c *cluster) note(b int) {
	from := b * blockSize
	noted := block{absent, math.MaxInt64}
	for i, need := range c.need[from:min(from+blockSize, len(c.need))] {
		if need != absent {
			noted.need = min(noted.need, need)
			noted.span = min(noted.span, c.tasks[from+i].limit)
		}
	}
	c.blocks[b] = noted
}

// pass lets the tasks start that can at this moment. The last of the tasks that
// will come have arrived since the last pass.
func (c *cluster) pass(arrived []int32) {
	first := c.first()
	c.known = c.known && first == c.head
	for c.head = first; c.head < len(c.need) && c.need[c.head] <= c.free; c.head = c.first() {
		c.start(c.head)
		c.known = false
	}
	if c.backfill == sched.NoBackfill {
		return
	}
	if c.head == len(c.need) {
		c.shadow, c.extra = sched.Never, c.free
		return
	}
	switch {
	case c.known && len(arrived) <= 1:
		for _, i := range arrived {
			c.try(int(i))
		}
	case c.record != nil && c.free > 0, slices.ContainsFunc(c.blocks[c.head/blockSize:], func(b block) bool { return b.need <= c.free }):
		if !c.known {
			c.castShadow()
		}
		c.backfillAll()
	}
}

// first returns the place of the first task that waits, or the number of places.
func (c *cluster) first() int {
	i := c.head
	for i < len(c.need) && c.need[i] == absent {
		if i%blockSize == 0 && c.blocks[i/blockSize].need == absent {
			i += blockSize
		} else {
			i++
		}
	}
	return min(i, len(c.need))
}

// castShadow finds when the first task will start at the latest: as soon as enough
// of the running jobs are over by their limits.
func (c *cluster) castShadow() {
	need, free := c.need[c.head], c.free
	c.shadow, c.known = c.now, true
	for _, r := range c.planned {
		if free >= need && r.at != c.shadow {
			break
		}
		free += r.procs
		c.shadow = r.at
	}
	c.extra = free - need
}

// backfillAll starts all tasks that do not delay the first.
func (c *cluster) backfillAll() {
	for b := c.head / blockSize; b < len(c.blocks); b++ {
		if !c.admits(c.blocks[b].need, c.blocks[b].span) {
			continue
		}
		from := b * blockSize
		for i, need := range c.need[from:min(from+blockSize, len(c.need))] {
			if need <= c.free {
				c.try(from + i)
			}
		}
	}
}

// admits reports whether a task that is not the first could start.
func (c *cluster) admits(need int32, span int64) bool {
	return need <= c.free && (need <= c.extra || span <= c.shadow-c.now)
}

// try starts a task, unless it would delay the first.
func (c *cluster) try(i int) {
	need, span := c.need[i], c.tasks[i].limit
	if !c.admits(need, span) {
		return
	}
	if span > c.shadow-c.now {
		c.extra -= need
	}
	c.start(i)
}

// start lets a task run that waits.
func (c *cluster) start(i int) {
	t := &c.tasks[i]
	c.starts[i] = c.now
	c.need[i] = absent
	if b := &c.blocks[i/blockSize]; t.procs == b.need || t.limit == b.span {
		c.note(i / blockSize)
	}
	c.free -= t.procs
	r := release{c.now + t.limit, t.procs}
	c.planned = slices.Insert(c.planned, c.find(r.at), r)
	c.running = append(c.running, occupant{r.at, c.now + t.run, t.procs, int32(i)})
	c.up(len(c.running) - 1)
}

// find returns the index of the first release that is not before a time.
func (c *cluster) find(at int64) int {
	low, high := 0, len(c.planned)
	for low < high {
		if mid := (low + high) / 2; c.planned[mid].at < at {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low
}

// finish lets the next running job end.
func (c *cluster) finish() {
	o := c.running[0]
	last := len(c.running) - 1
	c.running[0] = c.running[last]
	c.running = c.running[:last]
	c.down(0)
	i := c.find(o.planned)
	for c.planned[i].procs != o.procs {
		i++
	}
	c.planned = slices.Delete(c.planned, i, i+1)
	c.free += o.procs
	c.known = false
	if c.record != nil {
		c.record.ends = append(c.record.ends, finish{o.end, o.procs, o.place})
	}
}

// arrive lets a task join the queue.
func (c *cluster) arrive(i int) {
	t := &c.tasks[i]
	c.need[i] = t.procs
	b := &c.blocks[i/blockSize]
	b.need, b.span = min(b.need, t.procs), min(b.span, t.limit)
	if i < c.head {
		c.head, c.known = i, false
	}
}

// next lets everything happen that happens at the next moment at which anything
// does, and reports false if there is none.
func (c *cluster) next() bool {
	next := int64(sched.Never)
	if len(c.running) > 0 {
		next = c.running[0].end
	}
	if len(c.coming) > 0 {
		next = min(next, c.tasks[c.coming[0]].submit)
	}
	if next == sched.Never {
		return false
	}
	c.now = max(c.now, next)
	c.moment()
	return true
}

// moment lets everything happen that happens now.
func (c *cluster) moment() {
	for len(c.running) > 0 && c.running[0].end <= c.now {
		c.finish()
	}
	arrived := 0
	for arrived < len(c.coming) && c.tasks[c.coming[arrived]].submit <= c.now {
		c.arrive(int(c.coming[arrived]))
		arrived++
	}
	c.pass(c.coming[:arrived])
	c.coming = c.coming[arrived:]
	if c.record != nil {
		c.record.note(c)
	}
}

// wait lets the cluster live until a task starts, and returns when.
func (c *cluster) wait(i int) int64 {
	c.moment()
	for c.starts[i] == sched.Never && c.next() {
	}
	return c.starts[i]
}

// advance lets everything happen until a time, or all that will, if that is Never.
func (c *cluster) advance(to int64) {
	c.moment()
	for c.now < to && c.next() {
	}
}

func (c *cluster) up(i int) {
	for i > 0 {
		parent := (i - 1) / 2
		if c.running[i].end >= c.running[parent].end {
			return
		}
		c.running[i], c.running[parent] = c.running[parent], c.running[i]
		i = parent
	}
}

func (c *cluster) down(i int) {
	for {
		least := 2*i + 1
		if least >= len(c.running) {
			return
		}
		if right := least + 1; right < len(c.running) && c.running[right].end < c.running[least].end {
			least = right
		}
		if c.running[i].end <= c.running[least].end {
			return
		}
		c.running[i], c.running[least] = c.running[least], c.running[i]
		i = least
	}
}
