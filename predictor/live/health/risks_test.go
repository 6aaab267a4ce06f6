package health

import (
	"math"
	"testing"

	"github.com/varq-project/varq/predictor/forecast/fault"
)

// A node that fails again and again is the riskiest, also after nodes have come and gone, and what had been
// learnt by and by is what is learnt at once.
func TestRisks(t *testing.T) {
	var by, once Risks
	if _, _, ok := by.Of(nil); ok {
		t.Error("risks of which nothing was learnt")
	}
	nodes := []string{"n1", "n2", "n3", "n4"}
	const start, days = int64(1_700_000_000), 60
	var all []fault.Event
	for d := range int64(days) {
		at := start + d*day
		events := []fault.Event{{Node: "n1", Kind: drained, At: at}}
		if d%4 == 0 {
			events = append(events, fault.Event{Node: "n3", At: at + 100})
		}
		all = append(all, events...)
		by.Learn(nodes, events, at+200)
	}
	now := start + days*day
	by.Learn(nodes, nil, now)
	once.Learn(nodes, all, now)
	more := append([]string{"n0"}, nodes[1:]...)
	for name, r := range map[string]*Risks{"by and by": &by, "at once": &once} {
		risks, from, ok := r.Of(nodes)
		if !ok || risks[2].Prob < .1 || risks[2].Prob < 2*risks[0].Prob || risks[2].Why == "" || from.Failures != days/4 || from.Since != start {
			t.Errorf("%s: %+v, %+v", name, risks, from)
		}
	}
	a, _, _ := by.Of(nodes)
	b, _, _ := once.Of(nodes)
	for i := range a {
		if math.Abs(a[i].Prob/b[i].Prob-1) > 1e-4 || a[i].Why != b[i].Why {
			t.Errorf("by and by %v, at once %v", a[i], b[i])
		}
	}
	by.Learn(more, nil, now+10)
	risks, from, _ := by.Of(more)
	if risks[2].Prob < .1 || risks[0].Prob > .1 || from.Failures != days/4 {
		t.Errorf("of other nodes: %+v, %+v", risks, from)
	}
}

// Little is learnt of many nodes, and events are bounded.
func TestRisksAreBounded(t *testing.T) {
	const now = int64(1_700_000_000)
	old := []fault.Event{{Node: "n1", At: now - 2000*day}, {Node: "n2", At: now - 100}}
	for nodes, days := range map[int]int64{0: 2000, 10: 2000, 1000: 1000, 10_000: 100, 100_000: 10} {
		if start := startOf(old, nodes, now); start != now-days*day {
			t.Errorf("of %d nodes from %d days before on, want %d", nodes, (now-start)/day, days)
		}
	}
	var r Risks
	r.events = make([]fault.Event, mostEvents)
	for i := range r.events {
		r.events[i] = fault.Event{Node: "n1", Kind: "?", At: now - 10*day}
	}
	r.Learn([]string{"n1", "n2"}, old[1:], now)
	if _, from, _ := r.Of(nil); len(r.events) != mostEvents || from.Failures != 1 {
		t.Errorf("%d events, %+v", len(r.events), from)
	}
}
