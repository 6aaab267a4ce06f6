package sched

import (
	"iter"
	"math"
)

// Profile is how many processors are free at each moment from its beginning on: a
// step function, the last step of which lasts for ever. Moments before the
// beginning are taken for the beginning, and sums of a moment and a length beyond
// Never for Never. Lengths are at least 1. The zero Profile is not usable; Reset
// makes it so.
//
// It is a B+ tree of the changes: each node knows the sum of the changes below
// it, and the least and the greatest sum on the way. So Add touches two changes
// only, however many steps lie between them, and equal neighbours need no merging:
// a change of 0 is none. With s steps, At, Add and Fits take O(log s), and
// EarliestFit, EarlierFit and LatestFit O(log s + g), with g the changes to and
// from n processors that they pass; Advance takes O(log s) for each step it
// forgets. Nodes are indices into one array, so that nothing is allocated
// in the long run and the garbage collector does not look inside; 32 steps are one
// node, and a search through a leaf has no branch that is hard to predict. A plain
// sorted array adds as fast up to 200 steps, and 20 times slower at 20,000.
type Profile struct {
	begin int64
	free  int32 // processors at the beginning
	root  int32
	n     int // changes
	nodes []node
	spare []int32 // nodes not in use
}

// Reset makes free processors available at all times from now on. Memory is kept.
func (p *Profile) Reset(now int64, free int32) {
	p.nodes, p.spare = p.nodes[:0], p.spare[:0]
	p.begin, p.free, p.n = now, free, 0
	p.root = p.node(true)
}

// CopyFrom makes p equal to q. Memory is kept.
func (p *Profile) CopyFrom(q *Profile) {
	p.begin, p.free, p.root, p.n = q.begin, q.free, q.root, q.n
	p.nodes = append(p.nodes[:0], q.nodes...)
	p.spare = append(p.spare[:0], q.spare...)
}

// Advance moves the beginning forward to now, and forgets what was before.
func (p *Profile) Advance(now int64) {
	p.begin = max(p.begin, now)
	for p.n > 0 && p.nodes[p.root].at[0] <= now {
		first := p.nodes[p.root].at[0]
		free := p.At(first)
		p.change(first, p.free-free)
		p.free = free
	}
}

// Len returns the number of steps.
func (p *Profile) Len() int { return p.n + 1 }

// Steps yields the beginning and each moment at which the number changes, and the
// number of processors free from then on. The Profile must not change meanwhile.
func (p *Profile) Steps() iter.Seq2[int64, int32] {
	return func(yield func(int64, int32) bool) {
		var c cursor
		c.start(p, p.begin)
		if !yield(p.begin, c.free) {
			return
		}
		for {
			at, change := c.next(math.MinInt32, false, Never)
			for i, t := range at {
				if c.free += change[i]; !yield(t, c.free) {
					return
				}
			}
			if len(at) == 0 {
				return
			}
		}
	}
}

// At returns the number of processors free at t.
func (p *Profile) At(t int64) int32 {
	var c cursor
	c.start(p, t)
	return c.free
}

// Add makes n more processors free from a moment until before another, which may
// be Never; fewer if n is negative. The number may fall below 0.
func (p *Profile) Add(from, to int64, n int32) {
	if max(from, p.begin) >= to || n == 0 {
		return
	}
	if from <= p.begin {
		p.free += n
	} else {
		p.change(from, n)
	}
	if to != Never {
		p.change(to, -n)
	}
}

// Fits reports whether at least n processors are free all the time from a moment
// until before another.
func (p *Profile) Fits(from, to int64, n int32) bool {
	from = max(from, p.begin)
	if from >= to {
		return true
	}
	var c cursor
	c.start(p, from)
	for c.free >= n {
		at, change := c.next(n, true, to)
		if len(at) == 0 {
			return true
		}
		for i, t := range at {
			if c.free += change[i]; c.free < n {
				return t >= to
			}
		}
	}
	return false
}

// EarliestFit returns the first moment, from a given one on, from which at least n
// processors are free for a length of time, or Never.
func (p *Profile) EarliestFit(from, length int64, n int32) int64 {
	return p.EarlierFit(from, Never, length, n)
}

// EarlierFit returns the first moment, from a given one and before another, from
// which at least n processors are free for a length of time or until before;
// if there is none, it returns before. It is what conservative backfilling asks:
// could a job move forward whose place begins at before? From then on, the job's
// own place makes room for the rest of it.
func (p *Profile) EarlierFit(from, before, length int64, n int32) int64 {
	from = max(from, p.begin) // then where the processors became free
	var c cursor
	c.start(p, from)
	for {
		open, limit := c.free >= n, before
		if open {
			limit = min(limit, add(from, length))
		}
		at, change := c.next(n, open, limit)
		if len(at) == 0 {
			if open {
				return min(from, before)
			}
			return before
		}
		free := c.free
		for i, t := range at {
			if free < n {
				from = t
			}
			if uint64(t-from) >= uint64(length) || t >= before {
				return min(from, before)
			}
			free += change[i]
		}
		c.free = free
	}
}

// LatestFit returns the last moment, between two and including both, from which at
// least n processors are free for a length of time; ok is false if there is none.
func (p *Profile) LatestFit(from, to, length int64, n int32) (t int64, ok bool) {
	from, to = max(from, p.begin), min(to, Never-1)
	// Backwards from the end in windows, each twice as long as the one before.
	for window := length; from <= to && !ok; window = add(window, window) {
		first := from
		if add(from, window) <= to {
			first = to - window + 1
		}
		t, ok = p.lastFit(first, to, length, n)
		to = first - 1
	}
	return t, ok
}

// lastFit is LatestFit by looking at all of the time.
func (p *Profile) lastFit(from, to, length int64, n int32) (last int64, ok bool) {
	var c cursor
	c.start(p, from)
	end := add(to, length)
	for {
		at, change := c.next(n, c.free >= n, end)
		if len(at) == 0 {
			if c.free >= n {
				return to, true
			}
			return last, ok
		}
		for i, t := range at {
			if c.free < n {
				from = t
			}
			if from > to {
				return last, ok
			}
			if t >= end {
				return to, true
			}
			if uint64(t-from) >= uint64(length) {
				last, ok = t-length, true
			}
			c.free += change[i]
		}
	}
}
