package backtest

import (
	"math"
	"slices"

	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/forecast/qbets"
	"github.com/varq-project/varq/predictor/forecast/score"
	"github.com/varq-project/varq/predictor/stats"
	"github.com/varq-project/varq/predictor/workload"
)

// scope says which past waits are a sample for a job.
type scope uint8

const (
	wholeLog scope = iota
	eachQueue
	eachCell
)

// class returns the jobs that a request belongs to: all jobs, those of its queue
// (partition and QOS), or those of its qbets.Cell. A cell has a queue's jobs
// with about as many nodes, in doublings, and as much requested time, in the steps that
// users choose. Cells of exactly equal numbers hold too few jobs to learn from: they did
// worse on each of the real logs tried.
func (s scope) class(r *workload.Request) qbets.Class {
	switch s {
	case eachCell:
		return qbets.Cell(r)
	case eachQueue:
		return qbets.Class{Partition: r.Partition, QOS: r.QOS}
	default:
		return qbets.Class{}
	}
}

// past is a sample of past waits, and the forecast of the next that follows from it.
type past interface {
	score.Prediction
	add(wait uint32)
	// enough reports whether there are enough to answer.
	enough() bool
	// lower returns lower bounds on the probabilities, or nil.
	lower() score.Prediction
}

// baseline is a Method that knows nothing but past waits: of the whole log, of the
// queue, or of the cell.
type baseline[P past] struct {
	name  string
	scope scope
	empty func() P
	pasts [eachCell + 1]map[qbets.Class]P // of each scope
}

func newBaseline[P past](name string, s scope, empty func() P) *baseline[P] {
	b := &baseline[P]{name: name, scope: s, empty: empty}
	for s := range b.pasts {
		b.pasts[s] = make(map[qbets.Class]P)
	}
	return b
}

// Name implements [Method].
func (b *baseline[P]) Name() string { return b.name }

// Submitted implements [forecast.Observer].
func (b *baseline[P]) Submitted(*workload.Job) {}

// Started implements [forecast.Observer].
func (b *baseline[P]) Started(j *workload.Job) {
	wait, ok := j.Wait()
	if !ok || wait > math.MaxUint32 {
		return
	}
	for s := range b.scope + 1 {
		class := s.class(&j.Request)
		p, known := b.pasts[s][class]
		if !known {
			p = b.empty()
			b.pasts[s][class] = p
		}
		p.add(uint32(wait))
	}
}

// Ended implements [forecast.Observer].
func (b *baseline[P]) Ended(*workload.Job) {}

// Predict implements [Method]. A cell with too few waits is replaced by its queue, and
// a queue with too few by the log.
func (b *baseline[P]) Predict(q *forecast.Question) (wait, lower score.Prediction) {
	for s := b.scope; ; s-- {
		if p, known := b.pasts[s][s.class(&q.Request)]; known && p.enough() {
			return p, p.lower()
		}
		if s == wholeLog {
			return nil, nil
		}
	}
}

// window is how many waits a rolling quantile remembers.
const window = 300

// rolling is the newest waits. Their quantiles are the forecast of the next.
type rolling struct {
	ring   [window]uint32
	next   int
	sorted []uint32
}

func newRolling() *rolling { return &rolling{sorted: make([]uint32, 0, window)} }

// enough is true: one wait has quantiles too. To wait for more is worse on each of
// the real logs that this was tried on, where the whole log would answer.
func (r *rolling) enough() bool { return true }

func (r *rolling) lower() score.Prediction { return nil }

func (r *rolling) add(wait uint32) {
	if len(r.sorted) == window {
		i, _ := slices.BinarySearch(r.sorted, r.ring[r.next])
		r.sorted = slices.Delete(r.sorted, i, i+1)
	}
	r.ring[r.next] = wait
	r.next = (r.next + 1) % window
	i, _ := slices.BinarySearch(r.sorted, wait)
	r.sorted = slices.Insert(r.sorted, i, wait)
}

// Quantile returns the least wait that a share q of the waits do not exceed, 0 if
// there is none.
func (r *rolling) Quantile(q float64) float64 {
	n := len(r.sorted)
	if n == 0 {
		return 0
	}
	// A product such as .95*300 may be a hair above the whole number it stands for.
	k := int(math.Ceil(q*float64(n) - 1e-9))
	return float64(r.sorted[max(0, min(k, n)-1)])
}

// Within returns the share of the waits that are at most so long.
func (r *rolling) Within(seconds float64) float64 {
	return r.share(func(wait uint32) bool { return float64(wait) <= seconds })
}

// Below returns the share of the waits that are shorter.
func (r *rolling) Below(seconds float64) float64 {
	return r.share(func(wait uint32) bool { return float64(wait) < seconds })
}

// share returns that of the waits that are short.
func (r *rolling) share(short func(uint32) bool) float64 {
	n, _ := slices.BinarySearchFunc(r.sorted, false, func(wait uint32, _ bool) int {
		if short(wait) {
			return -1
		}
		return 1
	})
	return float64(n) / float64(len(r.sorted))
}

// confidence is the level of the binomial method's bounds.
const confidence = .95

// leastBound is how many waits bound the .95 quantile.
var leastBound = stats.SampleSize(.95, confidence)

// binomial is all waits there were. For a quantile of the next it takes the upper
// confidence bound on theirs, and for a probability the lower one.
type binomial struct {
	waits  stats.Multiset
	bounds bounds
}

func (b *binomial) enough() bool            { return b.waits.Len() >= leastBound }
func (b *binomial) lower() score.Prediction { return b }
func (b *binomial) add(wait uint32)         { b.waits.Insert(wait) }

// Quantile returns the bound, +Inf where the waits are too few for any.
func (b *binomial) Quantile(q float64) float64 {
	k, ok := b.bounds.of(q).Index(b.waits.Len())
	if !ok {
		return math.Inf(1)
	}
	return float64(b.waits.Select(k - 1))
}

// Within returns the largest q whose bound is at most so long.
func (b *binomial) Within(seconds float64) float64 {
	if !(seconds >= 0) {
		return 0
	}
	n := b.waits.Rank(uint32(min(seconds, math.MaxUint32)))
	return stats.LowerProportion(n, b.waits.Len(), confidence)
}

// Below returns the largest q whose bound is shorter.
func (b *binomial) Below(seconds float64) float64 { return b.Within(math.Ceil(seconds) - 1) }

// bounds are the indices of the bounds on each quantile.
type bounds map[float64]*stats.BoundIndices

func (b bounds) of(q float64) *stats.BoundIndices {
	indices := b[q]
	if indices == nil {
		indices = stats.NewBoundIndices(q, confidence)
		b[q] = indices
	}
	return indices
}
