// Package vitals turns the measurements of the agents on the nodes into events that may announce
// failures: counts of errors that grow, and levels that leave their trends. Times are Unix seconds.
//
// Invariants: a node has at most one event of a kind in quiet seconds, also across restarts. The
// memory and the storage that a node takes are bounded, whatever its agent sends.
package vitals

import (
	"context"
	"slices"
	"sync"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/forecast/fault"
)

const (
	// quiet is for how long after an event of a node no other of its kind is noticed, in seconds.
	quiet = 6 * 3600
	// mostReadings is how many signals of a node are remembered, and mostNoticed how many of its
	// events are shown.
	mostReadings = api.MaxSignals
	mostNoticed  = 8
)

// Monitor follows the vitals of nodes. Its methods may be called concurrently.
type Monitor struct {
	store *Store

	mu    sync.Mutex
	nodes map[string]*node
	fresh []fault.Event // that Take has not returned yet
}

// node is what is known of one node.
type node struct {
	heard    int64 // when its agent was heard last, or 0
	readings []reading
	noticed  []api.Noticed    // the latest last
	last     map[string]int64 // when something was noticed last, by kind
}

// reading is the last value of a signal.
type reading struct {
	name, of string
	value    float64
	trend    *fault.Trend // of a level
	heard    int64
}

// New returns a Monitor that continues with what is stored.
func New(ctx context.Context, store *Store) (*Monitor, error) {
	m := &Monitor{store: store, nodes: map[string]*node{}}
	stored, err := store.all(ctx)
	if err != nil {
		return nil, err
	}
	for _, e := range stored {
		m.node(e.Node).note(e.Noticed)
		m.fresh = append(m.fresh, fault.Event{Node: e.Node, Kind: e.Kind, At: e.At})
	}
	return m, nil
}

func (m *Monitor) node(name string) *node {
	n := m.nodes[name]
	if n == nil {
		n = &node{last: map[string]int64{}}
		m.nodes[name] = n
	}
	return n
}

// Observe takes in the signals of a node, which arrive at the time now. An error is the store's;
// the events are noticed all the same.
func (m *Monitor) Observe(ctx context.Context, name string, signals []api.Signal, now int64) error {
	noticed := m.observe(name, signals, now)
	if len(noticed) == 0 {
		return nil
	}
	return m.store.add(ctx, name, noticed, now)
}

func (m *Monitor) observe(name string, signals []api.Signal, now int64) (noticed []api.Noticed) {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := m.node(name)
	for _, s := range signals {
		what := n.read(s, now)
		kind := meanings[s.Name].kind
		if last, was := n.last[kind]; what == "" || was && now-last < quiet && last <= now {
			continue
		}
		e := api.Noticed{At: now, Kind: kind, What: what}
		n.note(e)
		noticed = append(noticed, e)
		m.fresh = append(m.fresh, fault.Event{Node: name, Kind: kind, At: now})
	}
	n.heard = now
	return noticed
}

// read takes in a signal, and returns in words what is to be noticed, or "". Of a signal that is
// new nothing is.
func (n *node) read(s api.Signal, now int64) string {
	i := slices.IndexFunc(n.readings, func(r reading) bool { return r.name == s.Name && r.of == s.Of })
	if i >= 0 {
		n.readings[i].heard = now
		return n.readings[i].observe(s, now)
	}
	r := reading{name: s.Name, of: s.Of, heard: now}
	if meanings[s.Name].shape == level {
		r.trend = &fault.Trend{}
	}
	r.observe(s, now)
	if len(n.readings) == mostReadings {
		oldest := 0
		for i := range n.readings {
			if n.readings[i].heard < n.readings[oldest].heard {
				oldest = i
			}
		}
		n.readings[oldest] = r
		return ""
	}
	n.readings = append(n.readings, r)
	return ""
}

// note keeps what was noticed.
func (n *node) note(e api.Noticed) {
	n.last[e.Kind] = e.At
	if len(n.noticed) == mostNoticed {
		n.noticed = slices.Delete(n.noticed, 0, 1)
	}
	n.noticed = append(n.noticed, e)
}

// Take returns the events that it has not returned yet: at first those that are stored.
func (m *Monitor) Take() []fault.Event {
	m.mu.Lock()
	defer m.mu.Unlock()
	fresh := m.fresh
	m.fresh = nil
	return fresh
}

// Keep forgets all nodes but those with these names.
func (m *Monitor) Keep(names []string) {
	there := make(map[string]bool, len(names))
	for _, name := range names {
		there[name] = true
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for name := range m.nodes {
		if !there[name] {
			delete(m.nodes, name)
		}
	}
}

// Of returns when the agent of a node was heard last, or 0, and what was noticed of it, the latest
// first.
func (m *Monitor) Of(name string) (heard int64, noticed []api.Noticed) {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := m.nodes[name]
	if n == nil {
		return 0, nil
	}
	noticed = slices.Clone(n.noticed)
	slices.Reverse(noticed)
	return n.heard, noticed
}
