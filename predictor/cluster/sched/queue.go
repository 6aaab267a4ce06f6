package sched

import (
	"iter"
	"slices"
)

// blockSize is the most jobs a block of the queue holds.
const blockSize = 64

// block is a stretch of the queue, and is never empty. Its least values let a search skip it.
type block struct {
	jobs  []*Job
	procs int32 // fewest processors of a job
	span  int64 // shortest planned time of a job
	at    int64 // earliest planned start of a job
}

// queue holds waiting jobs in their order, as a list of blocks. With n jobs, to add or remove
// one takes O(log n + blockSize) and moves at most n/blockSize pointers. A search looks at
// n/blockSize blocks, and at the jobs of only those that may hold a match.
type queue struct {
	blocks []*block
	n      int
	spare  []*block
}

// first returns the head of the queue, or nil.
func (q *queue) first() *Job {
	if q.n == 0 {
		return nil
	}
	return q.blocks[0].jobs[0]
}

// all yields the jobs in order. The queue must not change during the iteration.
func (q *queue) all() iter.Seq[*Job] {
	return func(yield func(*Job) bool) {
		for _, b := range q.blocks {
			for _, j := range b.jobs {
				if !yield(j) {
					return
				}
			}
		}
	}
}

func (q *queue) add(j *Job) {
	q.n++
	if len(q.blocks) == 0 {
		q.blocks = append(q.blocks, q.block())
	}
	i := q.find(j)
	b := q.blocks[i]
	if len(b.jobs) == blockSize {
		b = q.split(i, j)
	}
	at := len(b.jobs)
	for at > 0 && compare(j, b.jobs[at-1]) < 0 {
		at--
	}
	b.jobs = slices.Insert(b.jobs, at, j)
	b.note(j)
}

// find returns the index of the block that holds j, or into which j belongs.
func (q *queue) find(j *Job) int {
	low, high := 0, len(q.blocks)-1
	for low < high {
		mid := (low + high + 1) / 2
		if compare(q.blocks[mid].jobs[0], j) <= 0 {
			low = mid
		} else {
			high = mid - 1
		}
	}
	return low
}

// split splits the full block i, and returns the block into which j belongs. If j comes last
// the block stays full and j gets a new one, so that a queue which grows at its end is packed.
func (q *queue) split(i int, j *Job) *block {
	b, next := q.blocks[i], q.block()
	q.blocks = slices.Insert(q.blocks, i+1, next)
	if compare(j, b.jobs[blockSize-1]) > 0 {
		return next
	}
	next.jobs = append(next.jobs, b.jobs[blockSize/2:]...)
	clear(b.jobs[blockSize/2:])
	b.jobs = b.jobs[:blockSize/2]
	b.renote()
	next.renote()
	if compare(j, next.jobs[0]) < 0 {
		return b
	}
	return next
}

func (q *queue) remove(j *Job) {
	i := q.find(j)
	b := q.blocks[i]
	q.n--
	b.jobs = slices.Delete(b.jobs, slices.Index(b.jobs, j), slices.Index(b.jobs, j)+1)
	if len(b.jobs) == 0 {
		q.blocks = slices.Delete(q.blocks, i, i+1)
		q.spare = append(q.spare, b)
		return
	}
	if j.Procs == b.procs || j.planned() == b.span || j.state.at == b.at {
		b.renote()
	}
}

// sweep removes the jobs of a block that have left the queue. The block may be empty until
// tidy.
func (q *queue) sweep(b *block) {
	before := len(b.jobs)
	b.jobs = slices.DeleteFunc(b.jobs, func(j *Job) bool { return j.state.phase != queued })
	q.n -= before - len(b.jobs)
	b.renote()
}

// tidy removes empty blocks.
func (q *queue) tidy() {
	kept := q.blocks[:0]
	for _, b := range q.blocks {
		if len(b.jobs) > 0 {
			kept = append(kept, b)
		} else {
			q.spare = append(q.spare, b)
		}
	}
	clear(q.blocks[len(kept):])
	q.blocks = kept
}

// clear empties the queue.
func (q *queue) clear() {
	for _, b := range q.blocks {
		clear(b.jobs)
		b.jobs = b.jobs[:0]
		q.spare = append(q.spare, b)
	}
	clear(q.blocks)
	q.blocks, q.n = q.blocks[:0], 0
}

// block returns an empty block.
func (q *queue) block() *block {
	b := &block{jobs: make([]*Job, 0, blockSize)}
	if last := len(q.spare) - 1; last >= 0 {
		b, q.spare = q.spare[last], q.spare[:last]
	}
	b.forget()
	return b
}

func (b *block) forget() { b.procs, b.span, b.at = 1<<31-1, Never, Never }

func (b *block) note(j *Job) {
	b.procs = min(b.procs, j.Procs)
	b.span = min(b.span, j.planned())
	b.at = min(b.at, j.state.at)
}

// renote finds the least values of the block again.
func (b *block) renote() {
	b.forget()
	for _, j := range b.jobs {
		b.note(j)
	}
}
