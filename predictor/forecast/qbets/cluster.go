package qbets

import (
	"math"
	"slices"

	"github.com/varq-project/varq/predictor/delay"
)

// The clustering is online. Classes begin as cells. From time to time a class is reviewed.
// It is joined with a neighbour if their waits do not differ. Otherwise it is split in two
// where its waits differ most, by limit or by size.
//
// The Bayesian information criterion decides. Two groups of n waits together are separated
// if that raises the log-likelihood of their waits by more than ln(n)/2 for each parameter
// that the model then has more. For a new boundary, its place is one of the parameters. For
// an existing boundary it is not, so that classes do not split and join again and again.
//
// The criterion assumes independent waits. They are not: jobs that are submitted together
// wait together. So a boundary may separate only one burst of jobs from another. Such
// classes are right about jobs like these, and are joined again after other jobs.
//
// Groups with too few waits for a bound are neither made nor joined, as nobody could tell
// whether they differ. The waits of larger and longer jobs answer for them (see pool).

// due reports whether enough waits have been learnt since the last review. A review costs
// O(n log n) for a class of n waits and is due after n/4 more waits, so it adds O(log n) to
// the cost of each.
func (h *history) due(enough int) bool {
	return h.len() >= enough && h.reviewed >= max(enough, h.len()/4)
}

// review joins h with a neighbour, splits it, or does neither. It returns the histories that
// are no longer part of the service.
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

// alike returns the neighbour whose waits differ least from those of h, and the class of
// both together. It returns nil if the waits of all neighbours differ. It compares only
// waits from the time that both remember, since waits may also differ over time.
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

// since adds to counts the waits from an observation.order on, and returns their number.
func (h *history) since(order uint32, counts *histogram) int {
	n := 0
	for n < h.len() && h.at(h.len()-1-n).order >= order {
		counts[delay.Index(float64(h.at(h.len()-1-n).wait))]++
		n++
	}
	return n
}

// join returns the history of two classes joined to one. It has the newest waits of both,
// at most most.
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

// boundary returns the classes of the two groups of waits whose separation gains most. It
// reports false if none is worth it.
func (h *history) boundary(enough int) (low, high Class, ok bool) {
	n := h.len()
	if n < 2*enough {
		return low, high, false
	}
	parts := h.counts.divide(n)
	all := parts.tally(&h.counts)
	best := (parts.parameters() + 1) * math.Log(float64(n)) / 2
	// in the high bits what is asked for, in the low bits the index of the wait
	keyed := make([]uint64, n)
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

// split divides the history of h between two classes.
func (h *history) split(low, high Class) [2]*history {
	halves := [2]*history{
		{class: low, changed: h.changed},
		{class: high, changed: h.changed},
	}
	for i := range h.len() {
		o := h.at(i)
		half := halves[1]
		if low.Limit.contains(int64(o.limit)) && (low.Unit == AnyUnit || low.Size.contains(int64(o.amount))) {
			half = halves[0]
		}
		half.push(*o)
		if i < h.stale {
			half.stale++
		}
	}
	return halves
}
