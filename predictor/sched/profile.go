package sched

import (
	"iter"
	"slices"
	"sort"
)

// step is a moment, and the number of processors free from then on.
type step struct {
	at   int64
	free int32
}

// Profile is how many processors are free at each moment from its beginning on: a
// step function, the last step of which lasts for ever. Moments before the
// beginning are taken for the beginning, and sums beyond Never for Never. The
// zero Profile is not usable; Reset makes it so.
type Profile struct {
	steps []step
}

// Reset makes free processors available at all times from now on. Memory is kept.
func (p *Profile) Reset(now int64, free int32) { p.steps = append(p.steps[:0], step{now, free}) }

// CopyFrom makes p equal to q. Memory is kept.
func (p *Profile) CopyFrom(q *Profile) { p.steps = append(p.steps[:0], q.steps...) }

// Advance moves the beginning forward to now, and forgets what was before.
func (p *Profile) Advance(now int64) {
	if i := p.find(now); i >= 0 && p.steps[0].at < now {
		p.steps = slices.Delete(p.steps, 0, i)
		p.steps[0].at = now
	}
}

// find returns the index of the step that t lies in; 0 before the beginning.
func (p *Profile) find(t int64) int {
	return max(0, sort.Search(len(p.steps), func(i int) bool { return p.steps[i].at > t })-1)
}

// At returns the number of processors free at t.
func (p *Profile) At(t int64) int32 { return p.steps[p.find(t)].free }

// Add makes n more processors free from a moment until before another, which may
// be Never; fewer if n is negative. The number may fall below 0.
func (p *Profile) Add(from, to int64, n int32) {
	from = max(from, p.steps[0].at)
	if from >= to || n == 0 {
		return
	}
	i := p.cut(from)
	j := len(p.steps)
	if to != Never {
		j = p.cut(to)
	}
	for k := i; k < j; k++ {
		p.steps[k].free += n
	}
	p.merge(j)
	p.merge(i)
}

// cut lets a step begin at t, and returns its index.
func (p *Profile) cut(t int64) int {
	i := p.find(t)
	if p.steps[i].at == t {
		return i
	}
	p.steps = slices.Insert(p.steps, i+1, step{t, p.steps[i].free})
	return i + 1
}

// merge removes step i if nothing changes there.
func (p *Profile) merge(i int) {
	if 0 < i && i < len(p.steps) && p.steps[i-1].free == p.steps[i].free {
		p.steps = slices.Delete(p.steps, i, i+1)
	}
}

// Fits reports whether at least n processors are free all the time from a moment
// until before another.
func (p *Profile) Fits(from, to int64, n int32) bool {
	from = max(from, p.steps[0].at)
	return from >= to || p.EarliestFit(from, to-from, n) == from
}

// EarliestFit returns the first moment, from a given one on, from which at least n
// processors are free for a length of time, or Never.
func (p *Profile) EarliestFit(from, length int64, n int32) int64 {
	return p.EarlierFit(from, Never, length, n)
}

// EarlierFit returns the first moment, from a given one and before another, from
// which at least n processors are free for a length of time or until before;
// if there is none, it returns before. It is what conservative backfilling asks:
// could a job move forward whose place begins at before? There, the job's own
// place makes room for the rest of it.
func (p *Profile) EarlierFit(from, before, length int64, n int32) int64 {
	t := max(from, p.steps[0].at)
	if t >= before || length <= 0 {
		return min(t, before)
	}
	for i := p.find(t); i < len(p.steps) && p.steps[i].at < before; i++ {
		if p.steps[i].at >= add(t, length) {
			return t
		}
		if p.steps[i].free < n {
			t = p.end(i)
		}
	}
	return min(t, before)
}

// end returns when step i ends.
func (p *Profile) end(i int) int64 {
	if i+1 < len(p.steps) {
		return p.steps[i+1].at
	}
	return Never
}

// LatestFit returns the last moment, between two and including both, from which at
// least n processors are free for a length of time; ok is false if there is none.
func (p *Profile) LatestFit(from, to, length int64, n int32) (t int64, ok bool) {
	from, t = max(from, p.steps[0].at), min(to, Never-1)
	if from > t || length <= 0 {
		return t, from <= t
	}
	for i := p.find(add(t, length) - 1); i >= 0 && p.end(i) > t; i-- {
		if p.steps[i].free < n {
			if t = p.steps[i].at - length; t < from || add(t, length) == Never || p.steps[i].at < p.steps[0].at+length {
				return 0, false
			}
		}
	}
	return t, true
}

// Steps yields the beginning and each moment at which the number changes, and the
// number of processors free from then on. The Profile must not change meanwhile.
func (p *Profile) Steps() iter.Seq2[int64, int32] {
	return func(yield func(int64, int32) bool) {
		for _, s := range p.steps {
			if !yield(s.at, s.free) {
				return
			}
		}
	}
}

// Len returns the number of steps.
func (p *Profile) Len() int { return len(p.steps) }
