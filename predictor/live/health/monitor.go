// Package health follows the health of a cluster's nodes, as far as Slurm knows it. It turns the
// statements of accounting and slurmctld about nodes into events, each once. Some of these events
// are failures.
//
// A failure costs a job its work, or takes a node out of service unplanned: the node is DOWN, or it
// is drained because its hardware has failed. Planned maintenance is not a failure. Nor is it a
// failure if a node goes down that was drained before, because then somebody works on it.
package health

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"github.com/varq-project/varq/predictor/forecast/fault"
	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/slurm/sacctmgr"
)

const (
	// sameWithin is how far apart two events of a kind on a node may be, in seconds, and still be
	// one: both sources have told it, or the node went and came several times.
	sameWithin = 10 * 60
	// glance is the longest time between two looks, in seconds, in which a node cannot have been
	// rebooted by scontrol unseen.
	glance = 150
	// mostTold is how many events of a node are kept, to be recognized.
	mostTold = 32
	// remembered is for how long, in seconds, a node is known that slurmctld no longer lists and of
	// which accounting tells nothing new. Histories that overlap by more tell of it again.
	remembered = 30 * 86400
)

// Status is the present health of a node.
type Status struct {
	Node       string
	State      State
	Reason, By string // why it is not up, and who says so
	// Since is when the reason was set, or else when the state was seen first, Unix seconds. It is
	// 0 of a node that has always been up.
	Since int64
	Back  int64 // when Slurm is to resume it by itself, Unix seconds, or 0
}

// Monitor follows the nodes of a cluster. The zero value knows none. Its methods may be called
// concurrently.
type Monitor struct {
	mu    sync.Mutex
	nodes map[string]*node
}

type node struct {
	status    Status // Node is empty while slurmctld does not list the node
	accounted accounted
	shown     shown
	told      []told
}

// accounted is how far accounting has told of a node.
type accounted struct {
	start, end int64 // of the last entry
	spell
}

// shown is what slurmctld showed of a node last.
type shown struct {
	at       int64 // 0 before the first look
	boot     int64
	state    State
	reason   string
	reasonAt int64
	spell
}

// spell is a time during which a node is not up.
type spell struct {
	out    bool // no work is on it
	failed bool // a failure is among its events
}

// told is an event that has been told, and how long it lasted: until is 0 while it does.
type told struct {
	kind        string
	from, until int64
}

// happening is what a source says of a node.
type happening struct {
	fault.Event
	until  int64 // 0 if it lasts
	is     bool  // it is an event
	goesOn bool  // it goes on with what had not ended before
}

// Observe takes in entries of accounting, in the order of their starts, and what slurmctld shows of
// all nodes at the time now, in Unix seconds. It returns the events that it has not told yet, in
// the order of their times, which may be before those of events told earlier. Either source may be
// empty. Entries that it has taken in before change nothing, so that it can be called with
// overlapping histories.
func (m *Monitor) Observe(past []sacctmgr.Event, nodes []slurm.Node, now int64) []fault.Event {
	m.mu.Lock()
	defer m.mu.Unlock()
	happened := make([]happening, 0, len(past))
	for i := range past {
		if h, ok := m.node(past[i].Node).accounted.observe(&past[i]); ok {
			happened = append(happened, h)
		}
	}
	for i := range nodes {
		if h, ok := m.node(nodes[i].Name).shown.observe(&nodes[i], now); ok {
			happened = append(happened, h)
		}
	}
	slices.SortStableFunc(happened, func(a, b happening) int {
		return cmp.Or(cmp.Compare(a.At, b.At), strings.Compare(a.Node, b.Node))
	})
	var events []fault.Event
	for i := range happened {
		if m.nodes[happened[i].Node].take(&happened[i]) {
			events = append(events, happened[i].Event)
		}
	}
	if len(nodes) > 0 {
		m.show(nodes, now)
	}
	return events
}

// Nodes returns the present health of every node that slurmctld showed last, by name.
func (m *Monitor) Nodes() []Status {
	m.mu.Lock()
	defer m.mu.Unlock()
	var list []Status
	for _, n := range m.nodes {
		if n.status.Node != "" {
			list = append(list, n.status)
		}
	}
	slices.SortFunc(list, func(a, b Status) int { return strings.Compare(a.Node, b.Node) })
	return list
}

// Lost returns those of the nodes that are down or do not respond, as slurmctld showed them last.
func (m *Monitor) Lost(names []string) (lost []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, name := range names {
		if n := m.nodes[name]; n != nil && (n.status.State == Down || n.status.State == NotResponding) {
			lost = append(lost, name)
		}
	}
	return lost
}

// node returns what is known of the node with that name.
func (m *Monitor) node(name string) *node {
	n := m.nodes[name]
	if n == nil {
		if m.nodes == nil {
			m.nodes = make(map[string]*node)
		}
		n = new(node)
		m.nodes[name] = n
	}
	return n
}

// show brings the list of the nodes up to date. A node that is up has no event that lasts.
func (m *Monitor) show(nodes []slurm.Node, now int64) {
	listed := make(map[string]bool, len(nodes))
	for i := range nodes {
		listed[nodes[i].Name] = true
		n := m.nodes[nodes[i].Name]
		n.status = statusOf(&nodes[i], &n.status, now)
		if n.status.State != Up {
			continue
		}
		if n.accounted.end == 0 {
			n.accounted.end = now
		}
		for i := range n.told {
			if n.told[i].until == 0 {
				n.told[i].until = now
			}
		}
	}
	for name, n := range m.nodes {
		if listed[name] {
			continue
		}
		n.status = Status{}
		if max(n.shown.at, n.accounted.start, n.accounted.end) < now-remembered {
			delete(m.nodes, name)
		}
	}
}

// statusOf returns the health of a node whose health was last before, or zero if it was not known.
func statusOf(n *slurm.Node, last *Status, now int64) Status {
	s := Status{Node: n.Name, State: stateOf(n.State), Reason: n.Reason, By: n.ReasonBy, Since: n.ReasonAt, Back: n.ResumeAfter}
	switch {
	case s.State != Up && s.Since > 0:
	case s.State == last.State:
		s.Since = last.Since
	case s.State != Up || last.State != "":
		s.Since = now
	}
	return s
}

// observe takes in an entry of accounting, unless it is known.
func (a *accounted) observe(e *sacctmgr.Event) (h happening, ok bool) {
	if e.Start == a.start {
		a.end = e.End
	}
	if e.Start <= a.start || causeOf(e.Reason) == artefact {
		return h, false
	}
	h = happening{Event: fault.Event{Node: e.Node, At: e.Start}, until: e.End}
	h.goesOn = a.start != 0 && (a.end == 0 || e.Start <= a.end)
	if !h.goesOn {
		a.spell = spell{}
	}
	h.Kind, h.is = a.next(e.State, e.Reason)
	a.start, a.end = e.Start, e.End
	a.out = true // Slurm makes an entry when the last job has left
	return h, true
}

// next returns the kind of event with which the spell goes on, if that is one. There is one failure
// in a spell, and what has failed is down because of that.
func (s *spell) next(state, reason string) (kind string, is bool) {
	kind, is = kindOf(state, reason, s.out)
	if s.failed && (kind == fault.Failure || kind == down) {
		return "", false
	}
	s.failed = s.failed || is && kind == fault.Failure
	return kind, is
}

// observe takes in what slurmctld shows of a node. There may be news in it.
func (s *shown) observe(n *slurm.Node, now int64) (h happening, ok bool) {
	state := stateOf(n.State)
	if state == Unknown {
		return h, false
	}
	last := *s
	s.at, s.boot, s.state, s.reason, s.reasonAt = now, max(n.BootTime, s.boot), state, n.Reason, n.ReasonAt
	h = happening{Event: fault.Event{Node: n.Name, At: now}}
	switch {
	case state == Up:
		s.spell = spell{}
		h.Kind, h.At, h.until, h.is = fault.Failure, n.BootTime, now, last.rebooted(n, now)
		return h, h.is
	case state == last.state && n.Reason == last.reason:
		return h, false
	case state == NotResponding && last.state != Up:
		s.out = false // Slurm shows so what it has just resumed
		return h, false
	case last.at == 0 && strings.Contains(n.Reason, appended):
		s.out = true // accounting tells how it came to that
	}
	h.Kind, h.is = s.next(n.State, n.Reason)
	s.out = state.Out()
	// else only the state has changed
	if n.ReasonAt != last.reasonAt && n.ReasonAt > 0 && state != NotResponding {
		h.At = min(n.ReasonAt, now)
	}
	return h, h.is
}

// rebooted reports whether a node that is up has been rebooted by nobody's order since it was up at
// the last look. Slurm itself does not say so with ReturnToService=2. A cloud's node boots whenever
// it is wanted.
func (s *shown) rebooted(n *slurm.Node, now int64) bool {
	return s.state == Up && now-s.at <= glance && s.boot != 0 && !strings.Contains(n.State, "CLOUD") &&
		n.BootTime > s.boot+sameWithin && n.BootTime > s.at-sameWithin && n.BootTime <= now
}

// take takes in what a source says. It reports whether that is an event that has not been told.
func (n *node) take(h *happening) bool {
	if h.goesOn {
		for i := range n.told {
			if n.told[i].until == h.At {
				n.told[i].until = h.until
			}
		}
	}
	if !h.is {
		return false
	}
	for i := range n.told {
		t := &n.told[i]
		if t.kind == h.Kind && (t.until == 0 || h.At <= t.until+sameWithin) && (h.until == 0 || t.from <= h.until+sameWithin) {
			if t.from = min(t.from, h.At); t.until != 0 && (h.until == 0 || h.until > t.until) {
				t.until = h.until
			}
			return false
		}
	}
	if len(n.told) == mostTold {
		n.told = slices.Delete(n.told, 0, 1)
	}
	n.told = append(n.told, told{h.Kind, h.At, h.until})
	return true
}
