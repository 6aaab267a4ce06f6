package health

import (
	"math"
	"slices"
	"sync"

	"github.com/varq-project/varq/predictor/forecast/fault"
)

const (
	// mostEvents is how many events are kept, to learn from them again when nodes come or go.
	mostEvents = 200_000
	// mostNodeDays bounds what there is to learn from: of many nodes not so much of the past is needed.
	mostNodeDays = 1_000_000
	day          = 86400
)

// Risks forecasts which nodes will fail. The zero value knows nothing. Its methods may be called concurrently.
type Risks struct {
	mu       sync.Mutex
	model    *fault.Model
	nodes    []string
	events   []fault.Event
	start    int64 // of what the model has learnt from
	failures int
}

// Learn takes in that these were the nodes at the time now, in Unix seconds, in the order in which they stand in
// the machine room, and what happened to them since the last call. Learning from the past of n nodes takes as
// fault.Model's methods say, once, and again whenever nodes have come or gone.
func (r *Risks) Learn(nodes []string, events []fault.Event, now int64) {
	r.mu.Lock()
	r.events = append(r.events, events...)
	if more := len(r.events) - mostEvents; more > 0 {
		r.events = slices.Delete(r.events, 0, more)
	}
	if same := slices.Equal(nodes, r.nodes); same && r.model != nil {
		for _, e := range events {
			r.observe(r.model, e)
		}
		r.model.Advance(now)
		r.mu.Unlock()
		return
	}
	all := slices.Clone(r.events)
	r.mu.Unlock()

	next := Risks{start: startOf(all, len(nodes), now), nodes: slices.Clone(nodes)}
	model := fault.New(nodes, Kinds(), next.start)
	for _, e := range all {
		if e.At >= next.start {
			next.observe(model, e)
		}
	}
	model.Advance(now)

	r.mu.Lock()
	defer r.mu.Unlock()
	r.model, r.nodes, r.start, r.failures = model, next.nodes, next.start, next.failures
}

// startOf returns from when on events on so many nodes are learnt: from the first, or later if that were too much.
func startOf(events []fault.Event, nodes int, now int64) int64 {
	start := now
	for _, e := range events {
		start = min(start, e.At)
	}
	return max(start, now-mostNodeDays/int64(max(1, nodes))*day)
}

func (r *Risks) observe(model *fault.Model, e fault.Event) {
	model.Observe(e)
	if e.Kind == fault.Failure {
		r.failures++
	}
}

// Risk is how probable it is that a node fails.
type Risk struct {
	Prob float64 // within a day
	Why  string  // what most of it rests on: part of a sentence
}

// Learnt is what Risks rest on.
type Learnt struct {
	Since    int64 // Unix seconds
	Failures int
}

// Of returns the risks of nodes, in their order, and what they rest on. It reports false before the first
// call of Learn.
func (r *Risks) Of(nodes []string) (risks []Risk, from Learnt, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.model == nil {
		return nil, from, false
	}
	risks = make([]Risk, len(nodes))
	for i, node := range nodes {
		risks[i] = Risk{Prob: -math.Expm1(-r.model.Expected(node, day)), Why: r.model.Why(node)[0].Evidence}
	}
	return risks, Learnt{Since: r.start, Failures: r.failures}, true
}
