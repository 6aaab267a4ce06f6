package rollout

import (
	"math"
	"slices"

	"github.com/varq-project/varq/predictor/cluster/sched"
)

// Task is a job that waits or will come. Times are in seconds.
type Task struct {
	Submit int64 // when it joins the queue
	Limit  int64 // its time limit, for which it is planned
	Run    int64 // how long it runs; at most Limit
	Procs  int32
	Rank   int8 // for the Order Priority; the lowest goes first, among equal priorities
	// Priority is Slurm's, for the Order Priority; the highest goes first. It is 0 where it is not
	// known.
	Priority int64
	Count    uint16 // equal tasks that it stands for, for the Order LWF; 0 is 1
}

// work returns the processor-seconds that each of t's tasks is planned for.
func (t *Task) work() int64 {
	all := int64(t.Procs) * t.Limit
	if t.Count > 1 {
		return all / int64(t.Count)
	}
	return all
}

// Running is a job that runs.
type Running struct {
	Planned int64 // when it reaches its time limit
	End     int64 // when it ends; at most Planned
	Procs   int32
	Place   int32 // the task's place in the queue; -1 if the job ran from the beginning
}

// Recorder observes a rollout.
type Recorder interface {
	// Ended is called when a job ends.
	Ended(Running)
	// Passed is called, only with backfilling, after all that happens at a moment. It may
	// be called more than once for one moment. A job behind all others could start on
	// free processors if it ended by shadow, the time at which the first task of the queue
	// is planned to start. If it ran longer it could take at most extra of them. What runs
	// into windows ahead is bound by their room besides, which must not be kept.
	Passed(now, shadow int64, free, extra int32, ahead Rooms)
}

// blockSize is the number of tasks in a block. A block in which no task can start is skipped
// as a whole.
const blockSize = 64

// absent stands for the need of a task that is not in the queue.
const absent = math.MaxInt32

// Machine simulates one pool of processors. Tasks never move: each has its place in the queue from
// the beginning, also before it has come. With n tasks and r running jobs an event costs O(log r +
// r/chunkSize + n/blockSize), chunkSize, and blockSize for each block in which a task might start.
//
// With w windows ahead, to find when the first task of the queue can start costs O(w r/chunkSize),
// and each start and end O(1) more for each window that the task may run into.
//
// The zero Machine is ready for Load. Each rollout uses the memory of the last one again.
type Machine struct {
	// Windows are when not all processors are left to tasks, from the next Load on. They must not
	// change during a rollout.
	Windows Windows

	backfill sched.Backfill
	now      int64
	free     int32

	tasks  []Task  // in the order of the queue
	starts []int64 // by place; sched.Never: not yet
	need   []int32 // by place: processors of a task that waits, absent otherwise
	blocks []block
	head   int     // no task waits at a place before head
	coming []int32 // places of the tasks that will come, by time

	running []Running // a heap: the next to end is at index 0
	planned releases  // of the running jobs

	reserve reserve

	// shadow is the latest time at which the first task of the queue starts, and extra is
	// the number of processors that are free beside it then. Both stay known until a job
	// ends, a window begins or is over, or another task is first.
	shadow int64
	extra  int32
	known  bool

	recorder Recorder // or nil
}

// block summarises the waiting tasks of a stretch of the queue.
type block struct {
	need int32 // fewest processors
	span int64 // shortest limit
}

// Load begins a rollout at now, with free processors. The running jobs are in the order of
// Planned, and the tasks in the order of the queue. Coming is the places of the tasks that
// will come, in the order of their submission; all other tasks wait. Tasks and coming must
// not change until the next Load. The recorder may be nil.
func (c *Machine) Load(b sched.Backfill, now int64, free int32, running []Running, tasks []Task, coming []int32, r Recorder) {
	c.backfill, c.recorder = b, r
	c.now, c.free, c.tasks = now, free, tasks
	c.head, c.known = 0, false
	c.coming = coming
	c.running = append(c.running[:0], running...)
	for i := len(running)/2 - 1; i >= 0; i-- {
		c.down(i)
	}
	c.planned.load(running)
	c.reserve.load(c.Windows.Since(now), free, running)
	c.reopen()
	c.starts, c.need = resize(c.starts, len(tasks)), resize(c.need, len(tasks))
	for i := range tasks {
		c.starts[i], c.need[i] = sched.Never, tasks[i].Procs
	}
	for _, i := range coming {
		c.need[i] = absent
	}
	c.blocks = resize(c.blocks, (len(tasks)+blockSize-1)/blockSize)
	for b := range c.blocks {
		c.note(b)
	}
}

// resize returns a slice of length n in the memory of s, if there is enough.
func resize[T any](s []T, n int) []T { return slices.Grow(s[:0], n)[:n] }

// note summarises a block again.
func (c *Machine) note(b int) {
	from := b * blockSize
	noted := block{absent, math.MaxInt64}
	for i, need := range c.need[from:min(from+blockSize, len(c.need))] {
		if need != absent {
			noted.need = min(noted.need, need)
			noted.span = min(noted.span, c.tasks[from+i].Limit)
		}
	}
	c.blocks[b] = noted
}

// reopen counts what the windows that have begun by now leave, and what is free again after those
// that are over.
func (c *Machine) reopen() {
	if c.reserve.next() <= c.now {
		c.free -= c.reserve.enter(c.now)
		c.known = false
	}
}

// pass starts the tasks that can start now. Arrived are the places of the tasks that have come
// since the last pass.
func (c *Machine) pass(arrived []int32) {
	first := c.first()
	c.known = c.known && first == c.head
	for c.head = first; c.head < len(c.need) && c.need[c.head] <= c.free && c.reserve.left.Admit(c.need[c.head], c.now+c.tasks[c.head].Limit); c.head = c.first() {
		c.start(c.head)
		c.known = false
	}
	if c.backfill == sched.NoBackfill {
		return
	}
	if c.head == len(c.need) {
		c.shadow, c.extra = sched.Never, c.free
		c.reserve.beside(0, 0, 0)
		return
	}
	switch {
	case c.known && len(arrived) <= 1:
		for _, i := range arrived {
			c.try(int(i))
		}
	case c.recorder != nil && c.free > 0, slices.ContainsFunc(c.blocks[c.head/blockSize:], func(b block) bool { return b.need <= c.free }):
		if !c.known {
			c.castShadow()
		}
		c.backfillAll()
	}
}

// first returns the place of the first waiting task, or the number of places if none waits.
func (c *Machine) first() int {
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

// castShadow finds the shadow: the time at which enough running jobs have reached their limits
// for the first task to start, beside what windows leave.
func (c *Machine) castShadow() {
	need, limit := c.need[c.head], c.tasks[c.head].Limit
	at, free := c.reserve.plan(c.now, c.free, &c.planned, need, limit)
	c.reserve.beside(need, at, at+limit)
	c.shadow, c.extra, c.known = at, free-need, true
}

// backfillAll starts, in order, all tasks that do not delay the first one.
func (c *Machine) backfillAll() {
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

// admits reports whether a task with a need and a limit could start before the first one.
func (c *Machine) admits(need int32, span int64) bool {
	return need <= c.free && (need <= c.extra || span <= c.shadow-c.now) && c.reserve.rooms.Admit(need, c.now+span)
}

// try starts a task unless that would delay the first one.
func (c *Machine) try(i int) {
	need, span := c.need[i], c.tasks[i].Limit
	if !c.admits(need, span) {
		return
	}
	if span > c.shadow-c.now {
		c.extra -= need
	}
	c.start(i)
}

// start starts a waiting task.
func (c *Machine) start(i int) {
	t := &c.tasks[i]
	c.starts[i] = c.now
	c.need[i] = absent
	if b := &c.blocks[i/blockSize]; t.Procs == b.need || t.Limit == b.span {
		c.note(i / blockSize)
	}
	c.free -= t.Procs
	r := release{c.now + t.Limit, t.Procs}
	c.planned.add(r)
	c.reserve.has(t.Procs, r.at)
	c.running = append(c.running, Running{r.at, c.now + t.Run, t.Procs, int32(i)})
	c.up(len(c.running) - 1)
}

// finish ends the running job with the earliest end.
func (c *Machine) finish() {
	o := c.running[0]
	last := len(c.running) - 1
	c.running[0] = c.running[last]
	c.running = c.running[:last]
	c.down(0)
	c.planned.remove(release{o.Planned, o.Procs})
	c.free += o.Procs
	c.reserve.has(-o.Procs, o.Planned)
	c.known = false
	if c.recorder != nil {
		c.recorder.Ended(o)
	}
}

// arrive puts a task into the queue.
func (c *Machine) arrive(i int) {
	t := &c.tasks[i]
	c.need[i] = t.Procs
	b := &c.blocks[i/blockSize]
	b.need, b.span = min(b.need, t.Procs), min(b.span, t.Limit)
	if i < c.head {
		c.head, c.known = i, false
	}
}

// next advances to the next moment at which anything happens, and simulates it. It reports
// false if nothing happens any more.
func (c *Machine) next() bool {
	next := int64(sched.Never)
	if len(c.running) > 0 {
		next = c.running[0].End
	}
	if len(c.coming) > 0 {
		next = min(next, c.tasks[c.coming[0]].Submit)
	}
	if c.head < len(c.need) {
		next = min(next, c.reserve.next())
	}
	if next == sched.Never {
		return false
	}
	c.now = max(c.now, next)
	c.moment()
	return true
}

// moment simulates all that happens now: ends, arrivals, and then starts.
func (c *Machine) moment() {
	c.reopen()
	for len(c.running) > 0 && c.running[0].End <= c.now {
		c.finish()
	}
	arrived := 0
	for arrived < len(c.coming) && c.tasks[c.coming[arrived]].Submit <= c.now {
		c.arrive(int(c.coming[arrived]))
		arrived++
	}
	c.pass(c.coming[:arrived])
	c.coming = c.coming[arrived:]
	if c.recorder != nil && c.backfill != sched.NoBackfill {
		c.recorder.Passed(c.now, c.shadow, c.free, c.extra, c.reserve.rooms)
	}
}

// StartOf returns the time at which the task at a place starts. The rollout stops there.
func (c *Machine) StartOf(place int) int64 {
	c.moment()
	for c.starts[place] == sched.Never && c.next() {
	}
	return c.starts[place]
}

// Starts returns the time at which each task starts, by place. The slice is valid until the
// next Load.
func (c *Machine) Starts() []int64 {
	c.moment()
	for c.next() {
	}
	return c.starts
}

// up and down restore the heap of running jobs after a change at index i.
func (c *Machine) up(i int) {
	for i > 0 {
		parent := (i - 1) / 2
		if c.running[i].End >= c.running[parent].End {
			return
		}
		c.running[i], c.running[parent] = c.running[parent], c.running[i]
		i = parent
	}
}

func (c *Machine) down(i int) {
	for {
		least := 2*i + 1
		if least >= len(c.running) {
			return
		}
		if right := least + 1; right < len(c.running) && c.running[right].End < c.running[least].End {
			least = right
		}
		if c.running[i].End <= c.running[least].End {
			return
		}
		c.running[i], c.running[least] = c.running[least], c.running[i]
		i = least
	}
}
