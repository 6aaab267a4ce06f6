package health

import (
	"cmp"
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
	// relearnEvery is the least time, in seconds, between two times of learning from the whole past again.
	relearnEvery = 3600
	day          = 86400
)

// Risks forecasts which nodes will fail. The zero value knows nothing. Its methods may be called concurrently.
type Risks struct {
	learning sync.Mutex // one Learn at a time; guards the following
	model    *fault.Model
	nodes    []string
	events   []fault.Event
	since    int64 // from when on events are known
	relearnt int64 // when the model was made
	last     int64 // now of the last call
	learnt   Learnt

	mu    sync.Mutex // guards the following
	told  map[string]Risk
	other Risk // of a node of which nothing is known
	from  Learnt
}

// Risk is how probable it is that a node fails.
type Risk struct {
	Prob float64 // within a day
	Why  string  // what most of it rests on: part of a sentence
}

// Learnt is what Risks rest on.
type Learnt struct {
	Since    int64 // Unix seconds; 0 before the first call of Learn
	Failures int
}

// Learn takes in that these are the nodes at the time now, in Unix seconds, and what happened to them since the
// last call, in any order. What happened is known from the time since on, which may move back from one call to
// the next as more becomes known. A list without nodes is ignored.
//
// Learning from the past of n nodes takes as fault.Model's methods say, once, when since moves back, and when nodes have come or
// gone, or the clock has been set back, but at most once in relearnEvery. Of does not wait for that.
func (r *Risks) Learn(nodes []string, events []fault.Event, since, now int64) {
	r.learning.Lock()
	defer r.learning.Unlock()
	r.events = append(r.events, events...)
	if more := len(r.events) - mostEvents; more > 0 {
		r.events = slices.Delete(r.events, 0, more)
	}
	if len(nodes) == 0 {
		return
	}
	nodes = slices.Clone(nodes)
	slices.SortFunc(nodes, natural)
	more := r.model == nil || since < r.since
	if more {
		r.since = since
	}
	setBack := now < r.last-relearnEvery
	if more || setBack || !slices.Equal(nodes, r.nodes) && now >= r.relearnt+relearnEvery {
		r.relearn(nodes, now)
	} else {
		for _, e := range events {
			r.observe(e)
		}
		r.model.Advance(now)
	}
	r.last = now
	r.tell()
}

// relearn makes the model again, from all events.
func (r *Risks) relearn(nodes []string, now int64) {
	start := max(min(r.since, now), now-mostNodeDays/int64(len(nodes))*day)
	slices.SortStableFunc(r.events, func(a, b fault.Event) int { return cmp.Compare(a.At, b.At) })
	r.model, r.nodes, r.relearnt, r.learnt = fault.New(nodes, Kinds(), start), nodes, now, Learnt{Since: start}
	for _, e := range r.events {
		if e.At >= start && e.At <= now {
			r.observe(e)
		}
	}
	r.model.Advance(now)
}

func (r *Risks) observe(e fault.Event) {
	if r.model.Observe(e) && e.Kind == fault.Failure {
		r.learnt.Failures++
	}
}

// tell makes what Of returns.
func (r *Risks) tell() {
	told := make(map[string]Risk, len(r.nodes))
	for _, node := range r.nodes {
		told[node] = r.risk(node)
	}
	other := r.risk("")
	r.mu.Lock()
	defer r.mu.Unlock()
	r.told, r.other, r.from = told, other, r.learnt
}

func (r *Risks) risk(node string) Risk {
	return Risk{Prob: -math.Expm1(-r.model.Expected(node, day)), Why: r.model.Why(node)[0].Evidence}
}

// Of returns the risk of a node as of the last call of Learn, that of a mean node where it is not known.
func (r *Risks) Of(node string) Risk {
	r.mu.Lock()
	defer r.mu.Unlock()
	if risk, ok := r.told[node]; ok {
		return risk
	}
	return r.other
}

// Learnt returns what the risks rest on.
func (r *Risks) Learnt() Learnt {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.from
}

// natural compares names as people order them: n2 before n10. So nodes that stand near each other are near each
// other in a list.
func natural(a, b string) int {
	for i, j := 0, 0; i < len(a) && j < len(b); {
		x, y := digits(a[i:]), digits(b[j:])
		if x == 0 || y == 0 {
			if a[i] != b[j] {
				return cmp.Compare(a[i], b[j])
			}
			i, j = i+1, j+1
			continue
		}
		if c := compareNumbers(a[i:i+x], b[j:j+y]); c != 0 {
			return c
		}
		i, j = i+x, j+y
	}
	return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
}

// digits returns how many digits a text begins with.
func digits(text string) int {
	n := 0
	for n < len(text) && '0' <= text[n] && text[n] <= '9' {
		n++
	}
	return n
}

// compareNumbers compares two texts of digits as numbers.
func compareNumbers(a, b string) int {
	for len(a) > 1 && a[0] == '0' {
		a = a[1:]
	}
	for len(b) > 1 && b[0] == '0' {
		b = b[1:]
	}
	return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
}
