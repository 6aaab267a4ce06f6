package qos

import "slices"

// timeline tells which nodes are free at each moment from its beginning on. It is a step function:
// step i lasts from at[i] to at[i+1], and the last one for ever. Two neighbouring steps differ.
// Invariant: in the last step all nodes are free.
type timeline struct {
	at    []int64
	free  []uint64 // the set of each step, words of one after those of another
	words int      // of a set
}

// newTimeline returns a timeline from begin on in which all nodes are free.
func newTimeline(begin int64, nodes int) *timeline {
	all := newSet(nodes)
	for node := range nodes {
		all.add(node)
	}
	return &timeline{at: []int64{begin}, free: all, words: len(all)}
}

// step returns the nodes that are free in step i.
func (t *timeline) step(i int) Set { return t.free[i*t.words : (i+1)*t.words] }

// find returns the step of a moment. A moment before the beginning is in the first step.
func (t *timeline) find(at int64) int {
	i, exact := slices.BinarySearch(t.at, at)
	if exact {
		return i
	}
	return max(0, i-1)
}

// take makes the nodes busy in [from, to), in which they must be free.
func (t *timeline) take(nodes Set, from, to int64) { t.change(nodes, from, to, Set.remove) }

// give makes the nodes free in [from, to).
func (t *timeline) give(nodes Set, from, to int64) { t.change(nodes, from, to, Set.unite) }

func (t *timeline) change(nodes Set, from, to int64, change func(step, nodes Set)) {
	from = max(from, t.at[0])
	if from >= to {
		return
	}
	first := t.split(from)
	last := t.split(to)
	for i := first; i < last; i++ {
		change(t.step(i), nodes)
	}
	t.merge(last)
	t.merge(first)
}

// split makes a step begin at a moment, and returns it.
func (t *timeline) split(at int64) int {
	i := t.find(at)
	if t.at[i] == at {
		return i
	}
	t.at = slices.Insert(t.at, i+1, at)
	t.free = slices.Insert(t.free, (i+1)*t.words, t.step(i)...)
	return i + 1
}

// merge makes step i part of the one before, if they are equal.
func (t *timeline) merge(i int) {
	if i > 0 && slices.Equal(t.step(i-1), t.step(i)) {
		t.at = slices.Delete(t.at, i, i+1)
		t.free = slices.Delete(t.free, i*t.words, (i+1)*t.words)
	}
}

// advance forgets what was before now.
func (t *timeline) advance(now int64) {
	if i := t.find(now); i > 0 {
		t.at = slices.Delete(t.at, 0, i)
		t.free = slices.Delete(t.free, 0, i*t.words)
	}
	t.at[0] = max(t.at[0], now)
}

// next returns the first moment after at when other nodes are free than then, or Never.
func (t *timeline) next(at int64) int64 {
	if i := t.find(at) + 1; i < len(t.at) {
		return t.at[i]
	}
	return Never
}

// earliest returns the first moment, at from or later, from which at least n nodes are free for
// length seconds, and puts all nodes that are into free.
func (t *timeline) earliest(from, length int64, n int, free Set) int64 {
	for i := t.find(from); ; {
		start := max(from, t.at[i])
		copy(free, t.step(i))
		last := i
		for free.count() >= n {
			if last++; last == len(t.at) || t.at[last] >= start+length {
				return start
			}
			free.intersect(t.step(last))
		}
		if t.step(last).count() < n {
			i = last
		}
		i++
	}
}
