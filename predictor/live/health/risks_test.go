package health

import (
	"math"
	"slices"
	"testing"

	"github.com/varq-project/varq/predictor/forecast/fault"
)

// A node that fails again and again is the riskiest, and what is learnt by and by is what is learnt at once.
func TestRisks(t *testing.T) {
	var by, once Risks
	if by.Learn(nil, nil, 5, 9); by.Learnt() != (Learnt{}) {
		t.Errorf("nothing was learnt, and there is %+v", by.Learnt())
	}
	nodes := []string{"n1", "n10", "n2", "n3"}
	const start, days = int64(1_700_000_000), 60
	var all []fault.Event
	for d := range int64(days) {
		at := start + d*day
		events := []fault.Event{{Node: "n1", Kind: drained, At: at}, {Node: "gone", At: at}}
		if d%4 == 0 {
			events = append(events, fault.Event{Node: "n3", At: at + 100})
		}
		all = append(all, events...)
		by.Learn(nodes, events, start, at+200)
	}
	now := start + days*day
	by.Learn(nodes, nil, now, now)
	slices.Reverse(all)
	once.Learn(nodes, all, start, now)
	for name, r := range map[string]*Risks{"by and by": &by, "at once": &once} {
		bad, good := r.Of("n3"), r.Of("n1")
		if bad.Prob < .1 || bad.Prob < 2*good.Prob || bad.Why == "" || r.Learnt() != (Learnt{start, days / 4}) || r.Of("unknown").Prob > bad.Prob {
			t.Errorf("%s: %+v, %+v, %+v", name, bad, good, r.Learnt())
		}
	}
	for _, node := range nodes {
		a, b := by.Of(node), once.Of(node)
		if math.Abs(a.Prob/b.Prob-1) > 1e-4 || a.Why != b.Why {
			t.Errorf("%s by and by %v, at once %v", node, a, b)
		}
	}
}

// What was learnt of the time without failures is kept when nodes come and go, and they may do so
// often.
func TestNodesComeAndGo(t *testing.T) {
	var r Risks
	const start = int64(1_700_000_000)
	now := start + 200*day
	r.Learn([]string{"n1", "n2"}, nil, start, now)
	before, made := r.Of("n1").Prob, r.model
	r.Learn([]string{"n1", "n2", "n3"}, nil, now, now+60)
	if r.model != made || r.Of("n3").Prob <= 0 {
		t.Error("nodes that come are learnt at once")
	}
	r.Learn([]string{"n1", "n2", "n3"}, nil, now, now+relearnEvery)
	if after := r.Of("n1").Prob; r.model == made || math.Abs(after/before-1) > .5 || r.Learnt().Since != start {
		t.Errorf("%g before, %g after a node has come; %+v", before, after, r.Learnt())
	}
}

// A clock that is set ahead and back again leaves nothing behind.
func TestClockGoesBack(t *testing.T) {
	var r, steady Risks
	nodes := []string{"n1", "n2"}
	const start = int64(1_700_000_000)
	past := []fault.Event{{Node: "n1", At: start + 5*day}, {Node: "n1", At: start + 9*day}}
	for _, now := range []int64{start + 10*day, start + 4000*day, start + 11*day} {
		r.Learn(nodes, past, start, now)
		past = nil
	}
	steady.Learn(nodes, []fault.Event{{Node: "n1", At: start + 5*day}, {Node: "n1", At: start + 9*day}}, start, start+11*day)
	if a, b := r.Of("n1").Prob, steady.Of("n1").Prob; math.Abs(a/b-1) > 1e-9 {
		t.Errorf("%g, with a steady clock %g", a, b)
	}
}

// Little is learnt of many nodes, and events are bounded.
func TestRisksAreBounded(t *testing.T) {
	const now = int64(1_700_000_000)
	r := Risks{events: make([]fault.Event, mostEvents)}
	for i := range r.events {
		r.events[i] = fault.Event{Node: "n1", Kind: "?", At: now - 10*day}
	}
	nodes := make([]string, 20_000)
	for i := range nodes {
		nodes[i] = "n" + string(rune('a'+i%26)) + string(rune('a'+i/26%26)) + string(rune('a'+i/676))
	}
	r.Learn(nodes, []fault.Event{{Node: nodes[0], At: now - 2000*day}, {Node: nodes[1], At: now - 100}}, now-3000*day, now)
	if from := r.Learnt(); len(r.events) != mostEvents || from != (Learnt{now - 50*day, 1}) {
		t.Errorf("%d events, %+v", len(r.events), from)
	}
}

func TestNatural(t *testing.T) {
	want := []string{"a", "a1b", "n1", "n01", "n2", "n02x", "n9", "n10", "n10-2", "n10-10", "rack2n1", "rack10n1"}
	got := slices.Clone(want)
	slices.Sort(got)
	slices.SortFunc(got, natural)
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	for _, a := range want {
		for _, b := range want {
			if natural(a, b) != -natural(b, a) {
				t.Errorf("%s and %s", a, b)
			}
		}
	}
}
