package fault

import (
	"cmp"
	"math"
	"slices"
)

// Failure is the kind of event that is forecast.
const Failure = ""

// Event is something that happened to a node.
type Event struct {
	Node string
	Kind string // Failure, or one of the kinds that New was given
	At   int64  // Unix seconds
}

// day is the unit of time in the package, in seconds.
const day = 86400.

// Model forecasts the failures of a cluster's nodes. Events must be reported to it in the order in
// which they happen.
//
// With n nodes, k kinds and f failures remembered, Observe and Advance take O(n k). Advance takes
// another O(n k) for each six hours that have passed, and O(f k) for each week. Expected takes
// O(k). Forecast and Prob take O(k) for each node.
type Model struct {
	index    map[string]int
	start    int64
	now      float64 // days since start
	past     *past
	learners [len(horizons)]*learner
}

// horizons are the spans of time, in days, for which the Model learns. Between them risks are
// interpolated linearly.
var horizons = [...]float64{1. / 4, 1, 7}

// dayHorizon is the index of one day in horizons.
const dayHorizon = 1

// week is how often ages and weights are fitted, in days. At this time windows of all horizons end.
const week = 7

// New returns a Model that knows nothing yet at the time start, in Unix seconds. Nodes that are
// near each other in the list are assumed to be near each other in the machine room. kinds are the
// kinds of events that are not failures but may announce failures.
func New(nodes, kinds []string, start int64) *Model {
	m := &Model{index: make(map[string]int, len(nodes)), start: start, past: newPast(len(nodes), kinds)}
	for i, node := range nodes {
		m.index[node] = i
	}
	for i, span := range horizons {
		m.learners[i] = newLearner(span, m.past)
	}
	return m
}

// Observe takes in an event, and reports whether the Model knows the node. It ignores an event of
// an unknown node or kind. If an event is older than the last call, it counts as if it happened
// then.
func (m *Model) Observe(e Event) (known bool) {
	m.Advance(e.At)
	n, ok := m.index[e.Node]
	if !ok {
		return false
	}
	if e.Kind == Failure {
		for _, l := range m.learners {
			l.failed[n] = true
		}
	}
	m.past.observe(n, e.Kind, m.now)
	return true
}

// Advance tells the Model that nothing else happened before a time in Unix seconds.
func (m *Model) Advance(now int64) {
	to := float64(now-m.start) / day
	for {
		next := slices.MinFunc(m.learners[:], func(a, b *learner) int { return cmp.Compare(a.end, b.end) })
		if next.end > to {
			break
		}
		m.now = next.end
		m.past.advance(m.now)
		weekly := math.Mod(m.now, week) == 0
		if weekly {
			m.past.ages.fit(m.now)
		}
		for _, l := range m.learners {
			if l.end <= m.now {
				l.close(weekly)
			}
		}
	}
	if to > m.now {
		m.now = to
		m.past.advance(m.now)
	}
}

// Expected returns the expected number of failures of a node within a number of seconds from now
// on, as if no failure changed the node. The node fails with the probability 1-exp(-Expected).
// Expected grows with span, linearly between the horizons and beyond them. An unknown node counts
// as one of which nothing is known.
func (m *Model) Expected(node string, span int64) float64 {
	growth := m.growth(m.place(node))
	return growth.within(span)
}

// growth returns the expected failures of the node at a place, by horizon from now on.
func (m *Model) growth(n int) (g growth) {
	last, before := 0., 0.
	for i, l := range m.learners {
		x, expected := l.ask(n)
		// the shorter horizon is more reliable; then the node's own rate goes on
		if expected < last {
			expected = last + x[frail]*(1-before/horizons[i])
		}
		last, before = expected, horizons[i]
		g[i] = last
	}
	return g
}

// place returns the index of a node, or -1 if it is not known.
func (m *Model) place(node string) int {
	if n, ok := m.index[node]; ok {
		return n
	}
	return -1
}

// Prob returns the probability that at least one of the nodes fails between two times, in seconds
// from now on.
func (m *Model) Prob(nodes []string, from, to int64) float64 {
	return m.Forecast(nodes).Prob(nodes, from, to)
}

// Outlook explains the failures expected of a node within the next day.
type Outlook struct {
	Votes [len(Voters)]float64 // how many failures each of the Voters expects
	Parts []Part               // the largest first
}

// Part is how much one kind of evidence adds to a risk.
type Part struct {
	Evidence string  // part of a sentence: "it failed of late"
	Expected float64 // failures
}

// Outlook explains the failures expected of a node within the next day.
func (m *Model) Outlook(node string) Outlook {
	l := m.learners[dayHorizon]
	x, _ := l.ask(m.place(node))
	o := Outlook{Votes: l.votes(x)}
	add := func(feature int, expected float64) {
		evidence := l.past.evidence(feature)
		if k := slices.IndexFunc(o.Parts, func(p Part) bool { return p.Evidence == evidence }); k >= 0 {
			o.Parts[k].Expected += expected
		} else {
			o.Parts = append(o.Parts, Part{evidence, expected})
		}
	}
	add(constant, l.vote[0]*x[constant])
	add(frail, l.vote[1]*x[frail])
	add(frailLately, l.vote[2]*x[frailLately])
	for i, made := range x {
		add(i, l.vote[3]*l.weights[i]*made)
	}
	slices.SortStableFunc(o.Parts, func(a, b Part) int { return cmp.Compare(b.Expected, a.Expected) })
	return o
}
