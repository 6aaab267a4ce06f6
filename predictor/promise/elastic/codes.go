package elastic

import (
	"math/bits"
	"slices"
)

// codes put what all preferences say of a slot into one number.
type codes struct {
	list []code
	// whole is true if there is room for all that they say. Otherwise slots of one number may
	// differ.
	whole bool
}

// code writes what one preference says into some bits, in the same order.
type code struct {
	of   func(s *Slot) float64
	most bool
	span
	shift, drop int // the bits go there, and so many of them have no room
}

// span is what values, made sortable, have in common.
type span struct {
	some        bool
	least, last uint64
	differ      uint64 // the bits in which some differ
	few         rare
}

// codesOf returns the codes for the slots that are probable enough. A value is written as its
// distance from the least, without the zeros that all have at its end; or, if there are few
// different values, as its rank among them.
func codesOf(answers [][]Slot, prefer Preferences, minProb float64) codes {
	spans := make([][]span, workers)
	c := codes{list: make([]code, len(prefer)), whole: true}
	for i, p := range prefer {
		c.list[i] = code{of: p.By.of(), most: p.Most}
	}
	each(func(worker int) {
		mine := make([]span, len(prefer))
		for list := worker; list < len(answers); list += workers {
			for i := range answers[list] {
				if s := &answers[list][i]; s.Prob >= minProb {
					for k := range mine {
						mine[k].add(sortable(c.list[k].of(s), c.list[k].most))
					}
				}
			}
		}
		spans[worker] = mine
	})
	room := 64
	for i := range c.list {
		at := &c.list[i]
		for worker := range spans {
			at.join(&spans[worker][i])
		}
		at.few.rank()
		width := at.width()
		at.drop = max(0, width-room)
		room -= width - at.drop
		at.shift = room
		c.whole = c.whole && at.drop == 0
	}
	return c
}

// key returns the number of a slot.
func (c *codes) key(s *Slot) (key uint64) {
	for i := range c.list {
		at := &c.list[i]
		key |= at.number(sortable(at.of(s), at.most)) >> at.drop << at.shift
		if at.drop > 0 {
			break
		}
	}
	return key
}

func (s *span) add(value uint64) {
	if !s.some {
		s.some, s.least, s.last = true, value, value
	}
	s.differ |= value ^ s.least
	s.least, s.last = min(s.least, value), max(s.last, value)
	s.few.add(value)
}

// join adds the values of another span.
func (s *span) join(o *span) {
	if !o.some {
		return
	}
	s.add(o.least)
	s.add(o.last)
	s.differ |= o.differ
	s.few.join(&o.few)
}

// width is the number of bits of the greatest number.
func (s *span) width() int {
	if s.differ == 0 {
		return 0
	}
	if !s.few.many {
		return bits.Len(uint(len(s.few.values) - 1))
	}
	return bits.Len64((s.last - s.least) >> bits.TrailingZeros64(s.differ))
}

// number returns that of a value.
func (s *span) number(value uint64) uint64 {
	switch {
	case s.differ == 0:
		return 0
	case !s.few.many:
		return uint64(s.few.ranks[s.few.at(value)])
	}
	return (value - s.least) >> bits.TrailingZeros64(s.differ)
}

// rare has different values, as long as they are few.
type rare struct {
	many   bool
	values []uint64
	table  [2 * table]uint64 // of the values, each where at finds it
	used   [2 * table]bool
	ranks  [2 * table]uint16
}

// table is the most values that are few.
const table = 256

// at returns the place of a value, or where it would be.
func (r *rare) at(value uint64) int {
	i := int(value * 0x9e3779b97f4a7c15 >> 55)
	for r.used[i] && r.table[i] != value {
		i = (i + 1) % len(r.table)
	}
	return i
}

func (r *rare) add(value uint64) {
	if r.many {
		return
	}
	i := r.at(value)
	if r.used[i] {
		return
	}
	if r.many = len(r.values) == table; !r.many {
		r.used[i], r.table[i] = true, value
		r.values = append(r.values, value)
	}
}

func (r *rare) join(o *rare) {
	r.many = r.many || o.many
	for _, value := range o.values {
		r.add(value)
	}
}

// rank gives the values their ranks.
func (r *rare) rank() {
	slices.Sort(r.values)
	for rank, value := range r.values {
		r.ranks[r.at(value)] = uint16(rank)
	}
}
