package qbets

import (
	"math"
	"slices"

	"github.com/varq-project/varq/predictor/delay"
)

// The clustering is online. Classes begin as cells. From time to time a class is reviewed: it is joined with a
// neighbour if their waits do not differ, or else split in two where its waits
// differ most, by limit or by size. Bayes's information criterion decides: two
// groups are told apart when that raises the logarithm of the likelihood of their
// waits by more than half the logarithm of their number for each number that the
// model has more. The place of a boundary is such a number where it was sought, but
// not where it has been all along: so classes do not flicker.
//
// The criterion takes waits for independent. They are not, as jobs that are
// submitted together wait together, and a boundary may be drawn that only parts
// one bunch of jobs from another. Such a class tells the truth about jobs like
// those, and is joined again when others have come.
//
// Groups of fewer waits than can be bounded alone are neither made nor joined:
// nobody could tell whether they differ. They are answered for by the larger and
// longer ones, as cells are at first.

// due reports whether enough has been learnt since the last review to see
// something new. A review costs O(n log n) for a class of n waits and is due after
// n/4 more, so that it adds O(log n) to each.
func (h *history) due(enough int) bool {
	return h.len() >= enough && h.reviewed >= max(enough, h.len()/4)
}

// review joins h with a neighbour or splits it, if either is called for. It
// returns the pasts that are no longer part of the service.
func (s *service) review(h *history, enough, most int) (gone []*history) {
	h.reviewed = 0
	if other, class := s.alike(h, enough); other != nil {
		s.remove(h)
		s.remove(other)
		s.insert(join(h, other, class, most))
		return []*history{h, other}
	}
	if low, high, ok := h.boundary(enough); ok {
		s.remove(h)
		for _, half := range h.split(low, high) {
			s.insert(half)
		}
		return []*history{h}
	}
	return nil
}

// alike returns the neighbour whose waits differ least from those of h, and the
// class of both, or nil if all differ. Only the time counts that both remember: what
// differs between then and now is no difference between them.
func (s *service) alike(h *history, enough int) (alike *history, both Class) {
	least := math.Inf(1)
	for _, other := range s.classes {
		class, ok := h.class.joined(other.class)
		if !ok || other.len() < enough {
			continue
		}
		since := max(h.at(0).order, other.at(0).order)
		all, ours, m := histogram{}, histogram{}, 0
		n := h.since(since, &ours)
		if n >= enough {
			all = ours
			m = other.since(since, &all)
		}
		if m < enough {
			continue
		}
		parts := all.divide(n + m)
		one := parts.tally(&ours)
		excess := parts.gain(one, parts.tally(&all).less(one)) - parts.parameters()*math.Log(float64(n+m))/2
		if excess < min(0, least) {
			alike, both, least = other, class, excess
		}
	}
	return alike, both
}

// since adds to a histogram the waits learnt from a time on, and returns how many
// they are.
func (h *history) since(order uint32, counts *histogram) int {
	n := 0
	for n < h.len() && h.at(h.len()-1-n).order >= order {
		counts[delay.Index(float64(h.at(h.len()-1-n).wait))]++
		n++
	}
	return n
}

// join returns the past of two classes as that of one, of which it keeps the
// newest waits.
func join(a, b *history, class Class, most int) *history {
	waits := make([]observation, 0, a.len()+b.len())
	for i, j := 0, 0; i < a.len() || j < b.len(); {
		if j == b.len() || i < a.len() && a.at(i).order < b.at(j).order {
			waits = append(waits, *a.at(i))
			i++
		} else {
			waits = append(waits, *b.at(j))
			j++
		}
	}
	h := &history{class: class, changed: max(a.changed, b.changed)}
	dropped := max(0, len(waits)-most)
	for _, o := range waits[dropped:] {
		h.push(o)
	}
	h.stale = max(0, a.stale+b.stale-dropped)
	return h
}

// boundary returns the classes of the two groups of waits that it pays most to
// tell apart, if it does.
func (h *history) boundary(enough int) (low, high Class, ok bool) {
	n := h.len()
	if n < 2*enough {
		return low, high, false
	}
	parts := h.counts.divide(n)
	all := parts.tally(&h.counts)
	best := (parts.parameters() + 1) * math.Log(float64(n)) / 2
	keyed := make([]uint64, n) // what is asked for, and which wait it was
	look := func(asked func(*observation) uint32) (at int64, found bool) {
		for i := range keyed {
			keyed[i] = uint64(asked(h.at(i)))<<32 | uint64(i)
		}
		slices.Sort(keyed)
		var below tally
		for i, key := range keyed[:n-enough] {
			below[parts.of[delay.Index(float64(h.at(int(uint32(key))).wait))]]++
			if i+1 < enough || keyed[i+1]>>32 == key>>32 {
				continue
			}
			if g := parts.gain(below, all.less(below)); g > best {
				best, at, found = g, int64(key>>32), true
			}
		}
		return at, found
	}
	low, high = h.class, h.class
	if at, found := look(func(o *observation) uint32 { return o.limit }); found {
		low.Limit.Through, high.Limit.Above, ok = at, at, true
	}
	if h.class.Unit == AnyUnit {
		return low, high, ok
	}
	if at, found := look(func(o *observation) uint32 { return o.amount }); found {
		low, high, ok = h.class, h.class, true
		low.Size.Through, high.Size.Above = at, at
	}
	return low, high, ok
}

// split returns the past of h as that of two classes.
func (h *history) split(low, high Class) [2]*history {
	halves := [2]*history{
		{class: low, changed: h.changed},
		{class: high, changed: h.changed},
	}
	for i := range h.len() {
		o := h.at(i)
		half := halves[1]
		if low.Limit.holds(int64(o.limit)) && (low.Unit == AnyUnit || low.Size.holds(int64(o.amount))) {
			half = halves[0]
		}
		half.push(*o)
		if i < h.stale {
			half.stale++
		}
	}
	return halves
}
