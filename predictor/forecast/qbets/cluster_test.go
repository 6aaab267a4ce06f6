package qbets

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/varq-project/varq/predictor/workload"
)

// TestClassesPartition: however classes split and join, they are sorted, every request is in
// at most one of them, and each wait is in the class of its request.
func TestClassesPartition(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	p := New()
	for round := range 20 {
		for i := range 1000 {
			r := randomRequest(random)
			scale := 60 * float64(r.Nodes)
			if r.Limit > int64(1+round/5)*5*hour+600 {
				scale *= 30
			}
			p.Learn(started(r, int64(1+10_000*round+10*i), int64(scale*math.Exp(random.NormFloat64()))))
		}
		classes := 0
		for _, s := range p.services {
			for i, h := range s.classes {
				classes++
				if i > 0 && s.classes[i-1].class.compare(h.class) >= 0 {
					t.Fatalf("%v comes before %v", s.classes[i-1].class, h.class)
				}
				for i := range h.len() {
					o := h.at(i)
					if !h.class.Limit.contains(int64(o.limit)) || !h.class.Size.contains(int64(o.amount)) {
						t.Fatalf("%v holds %+v", h.class, *o)
					}
				}
			}
		}
		for range 300 {
			r := randomRequest(random)
			s := p.services[r.Partition]
			place := s.place(&r)
			found := 0
			for _, h := range s.classes {
				if place.in(&h.class) {
					found++
				}
			}
			if found > 1 || found == 1 != (s.find(&place) != nil) {
				t.Fatalf("%+v is in %d classes", r, found)
			}
		}
		if round == 19 {
			t.Logf("%d classes", classes)
		}
	}
}

// TestSplitAndJoinAreInverse: halves that are joined remember the same waits in the
// same order.
func TestSplitAndJoinAreInverse(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 2))
	h := &history{class: Class{Unit: Nodes}}
	for i := range 500 {
		h.push(observation{wait: random.Uint32N(1000), limit: 1 + random.Uint32N(100), amount: 1 + random.Uint32N(8), order: uint32(i)})
	}
	low, high := h.class, h.class
	low.Size.Through, high.Size.Above = 3, 3
	halves := h.split(low, high)
	class, ok := low.joined(high)
	if !ok || class != h.class {
		t.Fatalf("%v and %v make %v, %v", low, high, class, ok)
	}
	again := join(halves[0], halves[1], class, 500)
	if again.len() != h.len() || again.counts != h.counts {
		t.Fatalf("%d waits of %d", again.len(), h.len())
	}
	for i := range h.len() {
		if *again.at(i) != *h.at(i) {
			t.Fatalf("wait %d is %+v, was %+v", i, *again.at(i), *h.at(i))
		}
	}
	if newest := join(halves[0], halves[1], class, 100); newest.len() != 100 || *newest.at(99) != *h.at(499) || *newest.at(0) != *h.at(400) {
		t.Error("joined waits are not the newest")
	}
}

func TestJoined(t *testing.T) {
	class := func(size, limit Range) Class { return Class{Unit: Nodes, Size: size, Limit: limit} }
	one := class(Range{1, 2}, Range{0, hour})
	for _, test := range []struct {
		name  string
		other Class
		want  Class
	}{
		{"longer", class(Range{1, 2}, Range{hour, 0}), class(Range{1, 2}, Range{0, 0})},
		{"larger", class(Range{2, 4}, Range{0, hour}), class(Range{1, 4}, Range{0, hour})},
		{"smaller", class(Range{0, 1}, Range{0, hour}), class(Range{0, 2}, Range{0, hour})},
		{"far longer", class(Range{1, 2}, Range{2 * hour, 0}), Class{}},
		{"larger and longer", class(Range{2, 4}, Range{hour, 0}), Class{}},
		{"the same", one, Class{}},
		{"another QOS", Class{QOS: "high", Unit: Nodes, Size: Range{2, 4}, Limit: Range{0, hour}}, Class{}},
		{"another unit", Class{Unit: CPUs, Size: Range{2, 4}, Limit: Range{0, hour}}, Class{}},
	} {
		got, ok := one.joined(test.other)
		if ok != (test.want != Class{}) || ok && got != test.want {
			t.Errorf("%s: %+v, %v", test.name, got, ok)
		}
		back, also := test.other.joined(one)
		if ok != also || ok && back != got {
			t.Errorf("%s: the other way round %+v, %v", test.name, back, also)
		}
	}
}

// TestServedAlikeIsOneClass: where limits make no difference, classes join, and
// independent waits are not split.
func TestServedAlikeIsOneClass(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 3))
	p := New()
	r := workload.Request{Partition: "main", Size: workload.Size{Nodes: 2}}
	for i := range int64(20_000) {
		r.Limit = minute * (1 + random.Int64N(24*60))
		p.Learn(started(r, 1+10*i, int64(600*random.ExpFloat64())))
	}
	if n := len(p.services["main"].classes); n > 4 {
		t.Errorf("%d classes", n)
	}
}
