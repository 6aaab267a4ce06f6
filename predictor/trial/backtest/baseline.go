package backtest

import (
	"math"
	"slices"

	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/forecast/qbets"
	"github.com/varq-project/varq/predictor/forecast/score"
	"github.com/varq-project/varq/predictor/forecast/score/group"
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

// class returns the class of jobs that a request belongs to: all jobs, the jobs of its
// queue (partition and QOS), or the jobs of its qbets.Cell. A cell has the jobs of a queue
// with similar sizes and time limits; sizes are rounded to powers of two, and limits to
// the steps that users choose. Cells of equal sizes and limits have too few jobs to learn
// from: they did worse on each of the real logs tried.
func (s scope) class(r *workload.Request) qbets.Class {
	switch s {
	case eachCell:
		return qbets.Cell(r)
	case eachQueue:
		return group.Queue(r)
	default:
		return qbets.Class{}
	}
}

// past is a sample of past waits. As a Prediction it forecasts the next wait.
type past interface {
	score.Prediction
	add(wait uint32)
	// enough reports whether the sample has enough waits for a forecast.
	enough() bool
	// lower returns lower bounds on the probabilities, or nil.
	lower() score.Prediction
}

// baseline is a Method that knows only past waits, those of the whole log, of the job's
// queue, or of its cell.
type baseline[P past] struct {
	name  string
	scope scope
	empty func() P
	// completion says that it remembers the Completion of jobs that have ended, and not the Wait of
	// those that have started.
	completion bool
	pasts      [eachCell + 1]map[qbets.Class]P // by scope, up to that of the baseline
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
	if !b.completion {
		b.learn(j)
	}
}

// Ended implements [forecast.Observer].
func (b *baseline[P]) Ended(j *workload.Job) {
	if b.completion {
		b.learn(j)
	}
}

func (b *baseline[P]) learn(j *workload.Job) {
	wait, ok := outcomeOf(b.completion)(j)
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

// Predict implements [Method]. If a cell has too few waits, its queue answers; if the
// queue has too few, the whole log does.
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

// window is the number of waits that a rolling quantile remembers, if its name tells no other one.
const window = 300

// rolling has the newest waits. It forecasts that the next wait is distributed like them.
type rolling struct {
	most   int      // waits that it has
	ring   []uint32 // in the order of arrival
	next   int      // index of the oldest wait in ring, once ring is full
	sorted []uint32 // the same waits, ascending
}

func newRolling() *rolling { return &rolling{most: window} }

// enough returns true: one wait suffices. Falling back to the whole log until there are
// more waits was worse on each of the real logs tried.
func (r *rolling) enough() bool { return true }

func (r *rolling) lower() score.Prediction { return nil }

func (r *rolling) add(wait uint32) {
	if len(r.ring) < r.most {
		r.ring = append(r.ring, wait)
	} else {
		i, _ := slices.BinarySearch(r.sorted, r.ring[r.next])
		r.sorted = slices.Delete(r.sorted, i, i+1)
		r.ring[r.next] = wait
		r.next = (r.next + 1) % r.most
	}
	i, _ := slices.BinarySearch(r.sorted, wait)
	r.sorted = slices.Insert(r.sorted, i, wait)
}

// Quantile returns the least wait that at least a share q of the waits do not exceed. It
// returns 0 if there are no waits.
func (r *rolling) Quantile(q float64) float64 {
	n := len(r.sorted)
	if n == 0 {
		return 0
	}
	// By rounding, a product such as .95*300 may be just above a whole number.
	k := int(math.Ceil(q*float64(n) - 1e-9))
	return float64(r.sorted[max(0, min(k, n)-1)])
}

// Within returns the share of the waits that are at most seconds.
func (r *rolling) Within(seconds float64) float64 {
	return r.share(func(wait uint32) bool { return float64(wait) <= seconds })
}

// Below returns the share of the waits that are less than seconds.
func (r *rolling) Below(seconds float64) float64 {
	return r.share(func(wait uint32) bool { return float64(wait) < seconds })
}

// share returns the share of the waits for which short is true. short must be true for
// every wait below one for which it is true.
func (r *rolling) share(short func(uint32) bool) float64 {
	n, _ := slices.BinarySearchFunc(r.sorted, false, func(wait uint32, _ bool) int {
		if short(wait) {
			return -1
		}
		return 1
	})
	return float64(n) / float64(len(r.sorted))
}

// confidence is the confidence level of the binomial method's bounds.
const confidence = .95

// leastBound is the number of waits from which on there is a bound on the .95 quantile.
var leastBound = stats.SampleSize(.95, confidence)

// binomial has all past waits. It forecasts a quantile by the upper confidence bound on
// that quantile of the waits, and a probability by its lower confidence bound.
type binomial struct {
	waits  stats.Multiset
	bounds bounds
}

func (b *binomial) enough() bool            { return b.waits.Len() >= leastBound }
func (b *binomial) lower() score.Prediction { return b }
func (b *binomial) add(wait uint32)         { b.waits.Insert(wait) }

// Quantile returns the upper bound on the q-quantile, or +Inf if there are too few waits
// for a bound.
func (b *binomial) Quantile(q float64) float64 {
	k, ok := b.bounds.index(q, b.waits.Len())
	if !ok {
		return math.Inf(1)
	}
	return float64(b.waits.Select(k - 1))
}

// Within returns the largest q whose upper bound is at most seconds.
func (b *binomial) Within(seconds float64) float64 {
	if !(seconds >= 0) {
		return 0
	}
	n := b.waits.Rank(uint32(min(seconds, math.MaxUint32)))
	return stats.LowerProportion(n, b.waits.Len(), confidence)
}

// Below returns the largest q whose upper bound is less than seconds.
func (b *binomial) Below(seconds float64) float64 { return b.Within(math.Ceil(seconds) - 1) }

// bounds has, for each quantile, the ranks of the waits that are its bounds. The baselines
// of a scope share one bounds.
type bounds map[float64]*stats.BoundIndices

// mostBounds is of how many quantiles the ranks are remembered. Whoever asks about the rests of
// waits asks about others each time.
const mostBounds = 64

// index returns the rank of the bound on the q-quantile of n waits, and whether there is one.
func (b bounds) index(q float64, n int) (k int, ok bool) {
	indices := b[q]
	if indices == nil && len(b) >= mostBounds {
		k, _, ok = stats.QuantileBound(n, q, confidence)
		return k, ok
	}
	if indices == nil {
		indices = stats.NewBoundIndices(q, confidence)
		b[q] = indices
	}
	return indices.Index(n)
}
