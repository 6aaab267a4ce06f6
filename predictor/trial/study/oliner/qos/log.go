package qos

import (
	"cmp"
	"math"
	"slices"
	"sort"
)

// Never is a time that does not come.
const Never = math.MaxInt64

// Failure is one of a node: at the time At, in seconds, whoever runs there is interrupted.
type Failure struct {
	At   int64
	Node int
	// Detectability is p_x of section 4.3, a number in [0,1]: predictors at least as accurate as
	// that foretell the failure, and say that it comes with this probability.
	Detectability float64
}

// Log has the failures of a cluster's nodes. It repeats itself: a failure at t comes again at
// t + Period, for ever.
type Log struct {
	failures []Failure // by At, in [0, period)
	period   int64
}

// NewLog returns the log of the failures, whose times must be in [0, period).
func NewLog(failures []Failure, period int64) *Log {
	failures = slices.Clone(failures)
	slices.SortStableFunc(failures, func(a, b Failure) int { return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Node, b.Node)) })
	return &Log{failures, period}
}

// from returns the log's index of the first failure at t or later, and how much later than in the
// log it comes. It reports false if there are no failures. T must not be negative.
func (l *Log) from(t int64) (index int, later int64, ok bool) {
	if len(l.failures) == 0 {
		return 0, 0, false
	}
	return cyclic(len(l.failures), l.period, t, func(i int) int64 { return l.failures[i].At })
}

// cyclic finds the first of n times, which come again after each period, that is at t or later.
func cyclic(n int, period, t int64, at func(int) int64) (index int, later int64, ok bool) {
	later = t / period * period
	index = sort.Search(n, func(i int) bool { return at(i) >= t-later })
	if index == n {
		index, later = 0, later+period
	}
	return index, later, n > 0
}

// Oracle returns the predictor of section 4.3 with the accuracy a: of the failures in the window
// that it can detect, Detectability <= a, it returns the first one's Detectability, or 0 without
// one.
func (l *Log) Oracle(accuracy float64) *Oracle {
	o := &Oracle{all: Log{period: l.period}}
	for _, f := range l.failures {
		if f.Detectability > accuracy {
			continue
		}
		o.all.failures = append(o.all.failures, f)
		for len(o.of) <= f.Node {
			o.of = append(o.of, nil)
		}
		o.of[f.Node] = append(o.of[f.Node], f)
	}
	return o
}

// Oracle is a Predictor that knows a part of the failures to come. See Log.Oracle.
type Oracle struct {
	all Log
	of  [][]Failure // by node
}

// first returns the time and the detectability of the first known failure of a node in [from, to).
// It reports false if there is none.
func (o *Oracle) first(node int, from, to int64) (at int64, prob float64, ok bool) {
	if node >= len(o.of) {
		return 0, 0, false
	}
	known := o.of[node]
	i, later, ok := cyclic(len(known), o.all.period, max(0, from), func(i int) int64 { return known[i].At })
	if !ok || known[i].At+later >= to {
		return 0, 0, false
	}
	return known[i].At + later, known[i].Detectability, true
}

// Node implements Predictor.
func (o *Oracle) Node(_ int64, node int, from, to int64) float64 {
	_, prob, _ := o.first(node, from, to)
	return prob
}

// Nodes implements Predictor.
func (o *Oracle) Nodes(_ int64, nodes Set, from, to int64) float64 {
	prob := 0.
	for node := range nodes.Nodes() {
		if at, p, ok := o.first(node, from, to); ok {
			prob, to = p, at
		}
	}
	return prob
}

// Next implements Predictor: a window is better once it no longer has a failure that is known.
func (o *Oracle) Next(_, from int64) int64 {
	i, later, ok := o.all.from(max(0, from))
	if !ok {
		return Never
	}
	return o.all.failures[i].At + later + 1
}
