package health

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/varq-project/varq/predictor/forecast/fault"
	"github.com/varq-project/varq/predictor/live/vitals"
)

// A node that fails again and again is the riskiest, and what is learnt by and by is what is learnt
// at once.
func TestRisks(t *testing.T) {
	var by, once Risks
	if by.Learn(nil, nil, 5, 9, nil); by.Learnt() != (Learnt{}) {
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
		by.Learn(nodes, events, start, at+200, nil)
	}
	now := start + days*day
	by.Learn(nodes, nil, now, now, nil)
	slices.Reverse(all)
	once.Learn(nodes, all, start, now, nil)
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
	r.Learn([]string{"n1", "n2"}, nil, start, now, nil)
	before, made := r.Of("n1").Prob, r.model
	r.Learn([]string{"n1", "n2", "n3"}, nil, now, now+60, nil)
	if r.model != made || r.Of("n3").Prob <= 0 {
		t.Error("nodes that come are learnt at once")
	}
	r.Learn([]string{"n1", "n2", "n3"}, nil, now, now+relearnEvery, nil)
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
		r.Learn(nodes, past, start, now, nil)
		past = nil
	}
	steady.Learn(nodes, []fault.Event{{Node: "n1", At: start + 5*day}, {Node: "n1", At: start + 9*day}}, start, start+11*day, nil)
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
	r.Learn(nodes, []fault.Event{{Node: nodes[0], At: now - 2000*day}, {Node: nodes[1], At: now - 100}}, now-3000*day, now, nil)
	if from := r.Learnt(); len(r.events) != mostEvents || from != (Learnt{now - 50*day, 1}) {
		t.Errorf("%d events, %+v", len(r.events), from)
	}
}

// Events that are not failures go first, in the order of their arrival, and then failures.
func TestFailuresAreKept(t *testing.T) {
	var r Risks
	r.remember([]fault.Event{{Node: "n1", At: 1}, {Node: "n1", Kind: drained, At: 2}})
	r.remember(make([]fault.Event, mostEvents-2))
	r.remember([]fault.Event{{Node: "n1", Kind: drained, At: 3}})
	if r.events[0].At != 1 || r.events[mostEvents-1].At != 3 || len(r.events) != mostEvents {
		t.Errorf("of the first %+v, of the last %+v, %d in all", r.events[0], r.events[mostEvents-1], len(r.events))
	}
	r.remember(make([]fault.Event, 2))
	if r.events[0].At != 0 || len(r.events) != mostEvents {
		t.Errorf("of the first %+v, %d in all", r.events[0], len(r.events))
	}
}

// What agents tell announces failures where it does, once there is something told.
func TestVitalsAnnounce(t *testing.T) {
	var r Risks
	nodes := []string{"n1", "n2", "n3", "n4"}
	kind := vitals.Kinds()[0]
	const start = int64(1_700_000_000)
	now := start
	step := func(events ...fault.Event) {
		now += 6 * 3600
		r.Learn(nodes, events, start, now, nil)
	}
	step()
	without := r.Of("n1").Prob
	if r.kinds != nil {
		t.Errorf("%v have occurred", r.kinds)
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 100 {
		node := nodes[random.IntN(4)]
		step(fault.Event{Node: node, Kind: kind, At: now + 1})
		step(fault.Event{Node: node, At: now + 3600})
		for range random.IntN(66) {
			step()
		}
	}
	calm := r.Of("n1").Prob
	step(fault.Event{Node: "n1", Kind: kind, At: now + 1})
	if told := r.Of("n1"); told.Prob < 2*calm || told.Why != "this befell it: "+kind {
		t.Errorf("%g at first, %g when calm, then %+v", without, calm, told)
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

// What others say counts by their parts in the vote, for every span of time; who does not know is
// as if not there.
func TestVoices(t *testing.T) {
	const now = int64(1_700_000_000)
	nodes := []string{"n1", "n2"}
	learn := func(voices ...Voice) *Risks {
		var r Risks
		r.Learn(nodes, nil, now-100*day, now, func() []Voice { return voices })
		return &r
	}
	alone := learn().Of("n1")
	if alone.Expected != alone.Model || alone.Expected <= 0 {
		t.Fatalf("%+v", alone)
	}
	r := learn(Voice{Name: "ours", Part: .25, Expected: map[string]float64{"n1": 2}}, Voice{Name: "mute", Part: .5})
	heard, other := r.Of("n1"), r.Of("n2")
	want := -math.Log(.5*math.Exp(-alone.Model) + .5*math.Exp(-2)) // of the parts that are awake
	if math.Abs(heard.Expected-want) > 1e-12 || math.Abs(heard.Prob+math.Expm1(-want)) > 1e-12 || heard.Why != "what ours says" || heard.Model != alone.Model {
		t.Errorf("%+v, want %g failures", heard, want)
	}
	if other != learn().Of("n2") {
		t.Errorf("of a node that nobody speaks of: %+v", other)
	}
	f, _ := r.Forecast()
	before, _ := learn().Forecast()
	if ratio := f.Expected("n1", 3*day) / before.Expected("n1", 3*day); math.Abs(ratio/(want/alone.Model)-1) > 1e-9 {
		t.Errorf("within three days %g times as much", ratio)
	}
	if quiet := learn(Voice{Name: "ours", Part: .25, Expected: map[string]float64{"n1": 0}}).Of("n1"); quiet.Expected >= alone.Expected || quiet.Why != alone.Why {
		t.Errorf("%+v", quiet)
	}
}

func TestReplay(t *testing.T) {
	var r Risks
	r.Learn([]string{"n1"}, []fault.Event{{Node: "n1", At: 9}, {Node: "n2", At: 5}}, 1, 10, nil)
	r.Learn([]string{"n1"}, []fault.Event{{Node: "n1", At: 7}}, 1, 10, nil)
	var told []fault.Event
	if err := r.Replay(t.Context(), func(e fault.Event) { told = append(told, e) }); err != nil || len(told) != 3 || told[0].At != 5 || told[2].At != 9 {
		t.Errorf("%v, %v", told, err)
	}
	// Who starts while others are told and asked is told of the same by Replay, which waits.
	replayed := make(chan int)
	r.Learn([]string{"n1"}, []fault.Event{{Node: "n1", At: 11}}, 1, 12, func() []Voice {
		go func() {
			n := 0
			_ = r.Replay(t.Context(), func(fault.Event) { n++ })
			replayed <- n
		}()
		select {
		case <-replayed:
			t.Error("Replay does not wait")
		default:
		}
		return nil
	})
	if n := <-replayed; n != 4 {
		t.Errorf("%d events are replayed", n)
	}
}
