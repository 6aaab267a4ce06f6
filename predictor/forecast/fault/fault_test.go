package fault

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// names returns the names of n nodes.
func names(n int) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprint("n", i)
	}
	return all
}

// made generates the failures of a number of nodes on so many days, ordered by time. Each node has
// a rate of its own. A failure may cause others on the same node and on all other nodes.
func made(nodes, days int, rate, spread, again, others float64, r *rand.Rand) []Event {
	list := names(nodes)
	var events []Event
	add := func(n int, at float64) { events = append(events, Event{Node: list[n], At: int64(at * day)}) }
	for n := range nodes {
		own := rate * math.Exp(spread*r.NormFloat64()-spread*spread/2)
		for at := r.ExpFloat64() / own; at < float64(days); at += r.ExpFloat64() / own {
			add(n, at)
		}
	}
	for i := 0; i < len(events); i++ {
		at := float64(events[i].At) / day
		if next := at + 2*r.ExpFloat64(); r.Float64() < again && next < float64(days) {
			events = append(events, Event{Node: events[i].Node, At: int64(next * day)})
		}
		if next := at + r.ExpFloat64()/8; r.Float64() < others && next < float64(days) {
			add(r.IntN(nodes), next)
		}
	}
	slices.SortStableFunc(events, func(a, b Event) int { return cmp.Compare(a.At, b.At) })
	return events
}

// result sums up forecasts for windows of one node each: the nats lost, and the failures expected
// and seen.
type result struct{ loss, constant, own, expected, failed float64 }

// try replays the events for a model. From a day on, it compares the model's forecasts for all
// nodes with each window of a number of days.
func try(nodes, days, from, window int, events []Event) result {
	list := names(nodes)
	m := New(list, nil, 0)
	var sum result
	next := 0
	lose := func(loss *float64, risk float64, failed bool) {
		if failed {
			*loss -= math.Log(-math.Expm1(-risk))
		} else {
			*loss += risk
		}
	}
	for d := 0; d+window <= days; d += window {
		m.Advance(int64(d) * 86400)
		expected, constant, own := make([]float64, nodes), m.past.always.Mean()*float64(window), make([]float64, nodes)
		for n, node := range list {
			expected[n] = m.Expected(node, int64(window)*86400)
			own[n] = m.past.always.Rate(n) * float64(window)
		}
		failed := map[string]bool{}
		for ; next < len(events) && events[next].At < int64(d+window)*86400; next++ {
			m.Observe(events[next])
			failed[events[next].Node] = true
		}
		if d < from {
			continue
		}
		for n, node := range list {
			lose(&sum.loss, expected[n], failed[node])
			lose(&sum.constant, constant, failed[node])
			lose(&sum.own, own[n], failed[node])
			sum.expected += -math.Expm1(-expected[n])
			if failed[node] {
				sum.failed++
			}
		}
	}
	return sum
}

// The model finds the patterns that are in the past, and no others.
func TestForecasts(t *testing.T) {
	const nodes, days = 100, 600
	for _, c := range []struct {
		name                  string
		spread, again, others float64
		window                int
		// least gain over a constant, and over each node's own rate, in nats per failure
		gain, beyond float64
	}{
		{"all alike", 0, 0, 0, 1, -.01, -.02},
		{"some nodes are worse", 1, 0, 0, 1, .3, -.02},
		{"failures come again", 0, .5, 0, 1, .4, .4},
		{"failures spread", 0, 0, .6, 1, -.01, -.01},
		{"all of it", 1, .4, .3, 1, .3, .15},
		{"all of it, within a week", 1, .4, .3, 7, .2, .1},
	} {
		t.Run(c.name, func(t *testing.T) {
			events := made(nodes, days, .02, c.spread, c.again, c.others, rand.New(rand.NewPCG(2003, 8)))
			is := try(nodes, days, days/2, c.window, events)
			gain, beyond, ratio := (is.constant-is.loss)/is.failed, (is.own-is.loss)/is.failed, is.expected/is.failed
			t.Logf("%g failures, %.3f times as many expected; %.3f nats over a constant, %.3f over own rates", is.failed, ratio, gain, beyond)
			if gain < c.gain || beyond < c.beyond || ratio < .9 || ratio > 1.1 {
				t.Fail()
			}
		})
	}
}

// What happens after a time does not change what was forecast at that time.
func TestNoLookAhead(t *testing.T) {
	const nodes, days = 50, 300
	past := made(nodes, days, .01, 1, .4, .3, rand.New(rand.NewPCG(1, 1)))
	other := made(nodes, days, .05, 0, .4, .3, rand.New(rand.NewPCG(2, 2)))
	at := int64(days/2) * 86400
	forecast := func(future []Event) (all []float64) {
		m := New(names(nodes), nil, 0)
		for _, e := range past {
			if e.At < at {
				m.Observe(e)
			}
		}
		m.Advance(at)
		for _, node := range names(nodes) {
			all = append(all, m.Prob([]string{node}, 3600, 86400))
		}
		for _, e := range future {
			if e.At >= at {
				m.Observe(e)
			}
		}
		return all
	}
	if a, b := forecast(past), forecast(other); !slices.Equal(a, b) {
		t.Error("another future makes another forecast")
	}
	// The old forecast stays as it was.
	going := New(names(nodes), nil, 0)
	for _, e := range past[:len(past)/2] {
		going.Observe(e)
	}
	kept := going.Forecast(names(3))
	before := kept.Prob(names(5), 3600, 86400)
	for _, e := range past[len(past)/2:] {
		going.Observe(e)
	}
	if after := kept.Prob(names(5), 3600, 86400); after != before || going.Prob(names(5), 3600, 86400) == before {
		t.Errorf("a forecast changes from %g to %g", before, after)
	}
	// Another model goes on from event to event: it forecasts the same before it knows the future.
	m, next := New(names(nodes), nil, 0), 0
	for ; next < len(past) && past[next].At < at; next++ {
		m.Observe(past[next])
		m.Prob(names(3), 0, 86400)
	}
	m.Advance(at)
	for i, p := range forecast(nil) {
		if got := m.Prob(names(nodes)[i:i+1], 3600, 86400); got != p {
			t.Errorf("asked on the way, node %d has %g, otherwise %g", i, got, p)
		}
	}
}

// If nodes fail together, a set of them fails less often than if each failed independently.
func TestSets(t *testing.T) {
	const nodes, days = 32, 1500
	list, r := names(nodes), rand.New(rand.NewPCG(5, 5))
	m := New(list, nil, 0)
	var expected, product, known float64
	for d := range int64(days) {
		m.Advance(d * 86400)
		set := make([]string, 8)
		for i, n := range r.Perm(nodes)[:8] {
			set[i] = list[n]
		}
		p, sum := m.Prob(set, 0, 86400), 0.
		for _, node := range set {
			sum += m.Expected(node, 86400)
		}
		if d >= days/4 {
			expected, product = expected+p, product-math.Expm1(-sum)
			known += .1 * -math.Expm1(8*math.Log(1-8./nodes))
		}
		if r.Float64() < .1 {
			for _, n := range r.Perm(nodes)[:8] {
				m.Observe(Event{Node: list[n], At: d*86400 + 1000})
			}
		}
	}
	t.Logf("%g hits, %g expected, %g if nodes were independent", known, expected, product)
	if math.Abs(expected/known-1) > .15 || product < 1.4*known {
		t.Fail()
	}
}

// After hardly any time, one failure does not make the next certain.
func TestFirstFailure(t *testing.T) {
	for _, nodes := range []int{1, 2, 1000} {
		m := New(names(nodes), nil, 0)
		if p := m.Prob([]string{"n0"}, 0, 86400); p < .0005 || p > .005 {
			t.Errorf("%d nodes of which nothing is known: %g", nodes, p)
		}
		m.Observe(Event{Node: "n0", At: 5})
		m.Advance(6)
		p, other := m.Prob([]string{"n0"}, 0, 86400), m.Prob([]string{"n1"}, 0, 86400)
		if !(p > .01 && p < .3) || nodes > 1 && other >= p {
			t.Errorf("%d nodes: %g after the first failure, another %g", nodes, p, other)
		}
	}
}

// If people drain all nodes at once, none of the nodes seems about to fail.
func TestPlannedWork(t *testing.T) {
	list := names(100)
	m := New(list, []string{"drained"}, 0)
	for _, node := range list {
		m.Observe(Event{Node: node, Kind: "drained", At: 90 * 86400})
	}
	if p := m.Prob(list[:1], 0, 86400); p > .03 {
		t.Errorf("%g", p)
	}
}

// A node that fails several times a day has more failures in a week than in a day, and is not safe
// after the first.
func TestRiskGoesOn(t *testing.T) {
	m := New(names(10), nil, 0)
	for at := int64(0); at < 100*86400; at += 5 * 3600 {
		m.Observe(Event{Node: names(10)[3], At: at})
	}
	for _, node := range names(10)[3:5] {
		last := 0.
		for _, days := range []int64{1, 2, 4, 7, 14} {
			expected := m.Expected(node, days*86400)
			if expected <= last {
				t.Errorf("%s: %v failures within %d days, and %v before", node, expected, days, last)
			}
			last = expected
		}
	}
	if day, week := m.Expected(names(10)[3], 86400), m.Expected(names(10)[3], 7*86400); week < 2*day {
		t.Errorf("%v failures within a day, %v within a week", day, week)
	}
}

// The risk of a set grows with the set and with the time, more or less, whatever its size.
func TestSetsGrow(t *testing.T) {
	const nodes, days = 300, 400
	list, r := names(nodes), rand.New(rand.NewPCG(9, 9))
	m := New(list, nil, 0)
	for d := range int64(days) {
		if r.Float64() < .1 {
			for _, n := range r.Perm(nodes)[:20] {
				m.Observe(Event{Node: list[n], At: d*86400 + r.Int64N(80_000)})
			}
		}
	}
	m.Advance(days * 86400)
	last := 0.
	for set := 1; set <= nodes; set++ {
		p := m.Prob(list[:set], 0, 86400)
		if p < last-.02 || p < m.Prob(list[:1], 0, 86400) {
			t.Errorf("%d nodes: %.3f, one fewer: %.3f", set, p, last)
		}
		last = p
	}
	// However often sets are hit, the risk of a set is less than 1.
	f := m.Forecast(list)
	for i := range f.sizes {
		f.sizes[i] = sizes{}
		for k := range f.sizes[i].hit {
			f.sizes[i].hit[k], f.sizes[i].expected[k] = 300, 100
		}
	}
	for _, n := range list {
		f.Correct(n, 3/f.Expected(n, 86400))
	}
	if p := f.Prob(list[:2], 0, 86400); p >= 1 || p < .95 {
		t.Errorf("two nodes of which three failures each are expected: %v", p)
	}
	last = 0
	for hours := int64(1); hours < 400; hours++ {
		p := m.Prob(list[:100], 0, hours*3600)
		if p < last-.02 || p > last+.15 {
			t.Errorf("%d hours: %.3f, an hour less: %.3f", hours, p, last)
		}
		last = p
	}
}

// If events of another kind come before failures, they make failures likely, and are named as the
// evidence.
func TestKinds(t *testing.T) {
	const nodes, days = 60, 600
	list, r := names(nodes), rand.New(rand.NewPCG(3, 3))
	m := New(list, []string{"noise", "ECC errors"}, 0)
	var events []Event
	for range days {
		at := r.Int64N(days * 86400)
		events = append(events, Event{Node: list[r.IntN(nodes)], Kind: "noise", At: at})
		if at = r.Int64N(days * 86400); at%2 == 0 {
			n := list[r.IntN(nodes)]
			events = append(events, Event{Node: n, Kind: "ECC errors", At: at}, Event{Node: n, Kind: "of which New was not told", At: at})
			if at%4 == 0 {
				events = append(events, Event{Node: n, At: at + int64(40_000*r.ExpFloat64())})
			}
		}
	}
	slices.SortStableFunc(events, func(a, b Event) int { return cmp.Compare(a.At, b.At) })
	for _, e := range events {
		m.Observe(e)
	}
	now := int64(days) * 86400
	m.Observe(Event{Node: "n7", Kind: "ECC errors", At: now})
	m.Observe(Event{Node: "n8", Kind: "noise", At: now})
	risky, calm := m.Prob([]string{"n7"}, 0, 86400), m.Prob([]string{"n8"}, 0, 86400)
	if risky < .2 || risky > .6 || calm > .05 {
		t.Errorf("%g after an error that fails half of the nodes, %g after noise", risky, calm)
	}
	if why := m.Outlook("n7").Parts; why[0].Evidence != "this befell it: ECC errors" || why[0].Expected < .2 {
		t.Errorf("why: %+v", why)
	}
}

// Nothing makes a probability leave [0,1], or a risk shrink as the span grows.
func FuzzModel(f *testing.F) {
	f.Add(uint64(1), 3, int64(0), int64(1_700_000_000), 5)
	f.Add(uint64(2), 0, int64(100), int64(5), 1)
	f.Fuzz(func(t *testing.T, seed uint64, nodes int, start, span int64, events int) {
		nodes, events, span = min(max(nodes, 0), 20), min(max(events, 0), 300), min(max(span, 0), 400*86400)
		start = min(max(start, 0), 1<<40)
		r := rand.New(rand.NewPCG(seed, 1))
		list := names(nodes)
		m := New(list, []string{"noise"}, start)
		for range events {
			at := start + r.Int64N(span+1) - span/10
			m.Observe(Event{Node: fmt.Sprint("n", r.IntN(nodes+2)), Kind: []string{Failure, Failure, "noise", "?"}[r.IntN(4)], At: at})
		}
		for _, node := range append(list, "unknown") {
			last := 0.
			for _, within := range []int64{0, 1, 3600, 86400, 500_000, 604_800, 1e7, math.MaxInt64 / 4} {
				risk := m.Expected(node, within)
				if !(risk >= last) || math.IsInf(risk, 0) {
					t.Fatalf("%s within %d: %g, after %g", node, within, risk, last)
				}
				last = risk
			}
			m.Outlook(node)
		}
		for n := range nodes + 1 {
			if p := m.Prob(list[:n], r.Int64N(1e6), r.Int64N(1e7)); !(p >= 0 && p <= 1) {
				t.Fatalf("%d nodes: %g", n, p)
			}
		}
	})
}

func BenchmarkAdvance(b *testing.B) {
	for _, nodes := range []int{100, 1000, 10_000} {
		b.Run(fmt.Sprint(nodes, " nodes by a day"), func(b *testing.B) {
			m := New(names(nodes), []string{"noise"}, 0)
			for _, e := range made(nodes, 10, .01, 1, .4, .3, rand.New(rand.NewPCG(1, 1))) {
				m.Observe(e)
			}
			now := int64(10) * 86400
			for b.Loop() {
				now += 86400
				m.Advance(now)
			}
		})
	}
}

func BenchmarkProb(b *testing.B) {
	list := names(1000)
	m := New(list, nil, 0)
	for _, e := range made(len(list), 100, .01, 1, .4, .3, rand.New(rand.NewPCG(1, 1))) {
		m.Observe(e)
	}
	for _, nodes := range []int{1, 128, 1000} {
		b.Run(fmt.Sprint(nodes, " nodes"), func(b *testing.B) {
			for b.Loop() {
				m.Prob(list[:nodes], 3600, 90_000)
			}
		})
	}
}
