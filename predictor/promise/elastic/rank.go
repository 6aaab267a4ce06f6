package elastic

import (
	"cmp"
	"iter"
	"math"
	"math/bits"
	"slices"
	"sync"
)

// Rank returns the slots, of each site a list, that have at least probability minProb, best first:
// lexicographically by preferences. These are the leaves of the paper's tree (Figure 5) from left
// to right. Slots that no preference tells apart come together, by site, partition, start and
// nodes; such a group is valid until the next one. Slots and preferences are sound: see Slot.Check
// and Preferences.Check.
//
// All that the preferences say of a slot is put into one number of 64 bits, as far as there is room
// (codes.go). Slots are spread by its first bits over buckets, in time linear in their number, and
// the buckets are sorted when they are reached, so that whoever breaks off has not paid for the
// rest. Of n slots that takes O(n log n) in all, on all processors.
func Rank(answers [][]Slot, prefer Preferences, minProb float64) iter.Seq[[]*Slot] {
	return func(yield func([]*Slot) bool) {
		r := ranking{answers: answers, prefer: prefer}
		if slots := r.few(minProb); slots != nil {
			r.groups(slots, yield)
			return
		}
		r.codes = codesOf(answers, prefer, minProb)
		r.spread(minProb)
		r.visit(yield)
	}
}

// item is a slot with its key: a smaller key is preferred. Slots of one key are told apart by what
// there was no room for in it.
type item struct {
	key        uint64
	list, slot uint32 // without a pointer, so that the garbage collector has nothing to do with it
}

// ranking is one Rank.
type ranking struct {
	answers [][]Slot
	prefer  Preferences
	codes   codes
	items   []item
	ends    [buckets]int // of the buckets in items
}

// enough slots are worth spreading. Fewer are sorted by comparison.
const enough = 1000

// few returns the slots that are probable enough, or nil if there are none or many.
func (r *ranking) few(minProb float64) (all []*Slot) {
	total := 0
	for _, slots := range r.answers {
		total += len(slots)
	}
	if total >= enough {
		return nil
	}
	for _, slots := range r.answers {
		for i := range slots {
			if s := &slots[i]; s.Prob >= minProb {
				all = append(all, s)
			}
		}
	}
	return all
}

// digit is the number of bits of a key that tell its bucket.
const digit, buckets = 13, 1 << digit

func (r *ranking) slot(it *item) *Slot { return &r.answers[it.list][it.slot] }

// workers is how many share the work: what comes of it does not depend on that.
const workers = 8

// each has all workers do something at once.
func each(do func(worker int)) {
	var wait sync.WaitGroup
	for worker := range workers {
		wait.Go(func() { do(worker) })
	}
	wait.Wait()
}

// spread puts the slots that are probable enough into their buckets.
func (r *ranking) spread(minProb float64) {
	parts := make([][]item, workers)
	// how many items each worker has of each bucket, then where the next one goes
	next := make([][buckets]int, workers)
	each(func(worker int) {
		most := 0
		for list := worker; list < len(r.answers); list += workers {
			most += len(r.answers[list])
		}
		part := make([]item, 0, most)
		for list := worker; list < len(r.answers); list += workers {
			for i := range r.answers[list] {
				if s := &r.answers[list][i]; s.Prob >= minProb {
					key := r.codes.key(s)
					next[worker][key>>(64-digit)]++
					part = append(part, item{key, uint32(list), uint32(i)})
				}
			}
		}
		parts[worker] = part
	})
	at := 0
	for b := range r.ends {
		for worker := range next {
			n := next[worker][b]
			next[worker][b] = at
			at += n
		}
		r.ends[b] = at
	}
	r.items = make([]item, at)
	each(func(worker int) {
		places := &next[worker]
		for _, it := range parts[worker] {
			b := it.key >> (64 - digit)
			r.items[places[b]] = it
			places[b]++
		}
	})
}

// visit yields the groups of all buckets. It sorts some buckets at first, and then as many again as
// it has.
func (r *ranking) visit(yield func([]*Slot) bool) {
	begin, sorted := 0, 0
	var group []*Slot
	for b, end := range r.ends {
		if b == sorted {
			sorted = min(2*sorted+workers, buckets)
			r.sort(b, sorted)
		}
		for begin < end {
			next := begin + 1
			for next < end && r.items[next].key == r.items[begin].key {
				next++
			}
			group = group[:0]
			for i := begin; i < next; i++ {
				group = append(group, r.slot(&r.items[i]))
			}
			begin = next
			if !r.groups(group, yield) {
				return
			}
		}
	}
}

// groups yields slots of one key, in groups that no preference tells apart.
func (r *ranking) groups(slots []*Slot, yield func([]*Slot) bool) bool {
	if len(slots) == 1 {
		return yield(slots)
	}
	by := func(_, _ *Slot) int { return 0 }
	if !r.codes.whole {
		by = r.prefer.comparison()
	}
	slices.SortFunc(slots, func(a, b *Slot) int { return cmp.Or(by(a, b), a.compare(b)) })
	for len(slots) > 0 {
		n := 1
		for n < len(slots) && by(slots[0], slots[n]) == 0 {
			n++
		}
		if !yield(slots[:n:n]) {
			return false
		}
		slots = slots[n:]
	}
	return true
}

// sort sorts the buckets from begin to end by their keys.
func (r *ranking) sort(begin, end int) {
	each(func(worker int) {
		var s sorter
		for b := begin + worker; b < end; b += workers {
			first := 0
			if b > 0 {
				first = r.ends[b-1]
			}
			s.sort(r.items[first:r.ends[b]])
		}
	})
}

// sorter has the room to sort items.
type sorter struct {
	keys  []uint64
	items []item
}

// sort sorts items of one bucket, by numbers that have the rest of an item's key and, in the bits
// that are left, its place.
func (s *sorter) sort(items []item) {
	if len(items) < 2 {
		return
	}
	place := bits.Len(uint(len(items) - 1))
	s.keys, s.items = s.keys[:0], append(s.items[:0], items...)
	for i := range items {
		s.keys = append(s.keys, items[i].key<<digit>>place<<place|uint64(i))
	}
	slices.Sort(s.keys)
	for i, key := range s.keys {
		items[i] = s.items[key&(1<<place-1)]
	}
	if place > digit { // bits of keys were lost
		// nearly sorted
		slices.SortFunc(items, func(a, b item) int { return cmp.Compare(a.key, b.key) })
	}
}

// comparison returns the function that compares slots by the preferences.
func (p Preferences) comparison() func(a, b *Slot) int {
	values := make([]func(*Slot) float64, len(p))
	for i := range p {
		values[i] = p[i].By.of()
	}
	return func(a, b *Slot) int {
		for i, of := range values {
			if c := cmp.Compare(sortable(of(a), p[i].Most), sortable(of(b), p[i].Most)); c != 0 {
				return c
			}
		}
		return 0
	}
}

// sortable returns a number that is less the more a value is preferred.
func sortable(x float64, most bool) uint64 {
	key := math.Float64bits(x + 0) // 0 for -0
	if key>>63 == 0 {
		key |= 1 << 63
	} else {
		key = ^key
	}
	if most {
		return ^key
	}
	return key
}
