package twin

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"github.com/varq-project/varq/predictor/workload"
)

// need is what a job needs, and how much of it is missing beside occupants.
type need struct {
	of      *Occupants
	size    workload.Size
	pieces  workload.Pieces
	demands []demand
	// firm is the timeline beside all occupants but plain claims, whole beside all, and promised
	// beside those that wait, or whose work has not begun. The latter two are nil as long as nobody
	// has asked for them.
	firm, whole, promised *timeline
}

// need returns what the job of a claim needs.
func (o *Occupants) need(c *workload.Claim) *need {
	if n := o.last; n != nil && n.size == c.Size && n.pieces == c.Pieces {
		return n
	}
	n := &need{of: o, size: c.Size, pieces: c.Pieces, demands: o.demands(c)}
	if n.firm = n.beside(o.plain); o.plain == len(o.list) {
		n.whole = n.firm
	}
	o.last = n
	return n
}

// besideAll returns whole.
func (n *need) besideAll() *timeline {
	if n.whole == nil {
		n.whole = n.beside(len(n.of.list))
	}
	return n.whole
}

// besidePromised returns promised.
func (n *need) besidePromised() *timeline {
	if n.promised == nil {
		n.promised = n.timeline(len(n.of.list), func(c *occupant) bool { return c.runtime == nil })
	}
	return n.promised
}

// beside returns the timeline beside the first so many occupants.
func (n *need) beside(first int) *timeline {
	return n.timeline(first, func(*occupant) bool { return true })
}

// timeline has what is missing for a need beside some of the first occupants, from each of its
// moments until the next.
type timeline struct {
	*need
	first   int
	moments []moment // ascending, from the beginning of all time
	tight   []moment // those of them at which an occupant begins, and not all demands are met
}

// moment is a time, Unix seconds, at which some of the occupants begin to have processors, or no
// longer have them.
type moment struct {
	at int64
	// sure is how much is missing beside those that wait, and all beside all, of the demand of
	// which it is the most. If it is not above 0, all demands are met.
	sure, all int64
}

// timeline returns that beside those of the first so many occupants that count.
func (n *need) timeline(first int, counts func(*occupant) bool) *timeline {
	t := &timeline{need: n, first: first, moments: make([]moment, 1, len(n.of.changes)+1)}
	t.moments[0] = n.missing(math.MinInt64)
	for changes := n.of.changes; len(changes) > 0; {
		at, begins, changed := changes[0].at, false, false
		for len(changes) > 0 && changes[0].at == at {
			if by := &n.of.list[changes[0].by]; int(changes[0].by) < first && counts(by) {
				for _, d := range n.demands {
					d.change(by, changes[0].begins)
				}
				begins, changed = begins || changes[0].begins, true
			}
			changes = changes[1:]
		}
		if !changed {
			continue
		}
		m := n.missing(at)
		t.moments = append(t.moments, m)
		if begins && m.all > 0 {
			t.tight = append(t.tight, m)
		}
	}
	return t
}

// missing returns a moment: what is missing from then on beside the occupants that are counted now.
func (n *need) missing(at int64) moment {
	m := moment{at: at, sure: math.MinInt64, all: math.MinInt64}
	for _, d := range n.demands {
		sure, all := d.missing()
		m.sure, m.all = max(m.sure, sure), max(m.all, all)
	}
	return m
}

// since returns the first of some moments that is after a time.
func since(moments []moment, after int64) int {
	return sort.Search(len(moments), func(i int) bool { return moments[i].at > after })
}

// room returns an upper bound on the probability that the occupants leave room for the need at a
// time: the least of the probabilities for each demand.
func (t *timeline) room(at int64) float64 {
	switch m := &t.moments[since(t.moments, at)-1]; {
	case m.all <= 0:
		return 1
	case m.sure > 0:
		return 0
	}
	prob := 1.
	for _, d := range t.demands {
		if prob = min(prob, d.room(t.of.list[:t.first], at)); prob == 0 {
			break
		}
	}
	return prob
}

// mostSqueezes is at how many times Room looks for room before the work, and at how many during it.
const mostSqueezes = 16

// squeezes returns the times between two others, ascending, at which an occupant gets processors
// and there may be too little room for the need. Of more than mostSqueezes it returns those at
// which the most would be missing beside the claims that wait alone, and then those at which it
// would be beside all.
func (t *timeline) squeezes(after, before int64) []int64 {
	tight := t.tight[since(t.tight, after):]
	found := slices.Clone(tight[:since(tight, before-1)])
	slices.SortStableFunc(found, func(a, b moment) int {
		return cmp.Or(cmp.Compare(max(0, b.sure), max(0, a.sure)), cmp.Compare(b.all, a.all))
	})
	times := make([]int64, 0, mostSqueezes)
	for _, s := range found[:min(mostSqueezes, len(found))] {
		times = append(times, s.at)
	}
	slices.Sort(times)
	return times
}
