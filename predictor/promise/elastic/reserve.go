package elastic

import (
	"errors"
	"iter"
)

// ErrSite is the error of a site that will hold no slot at all, such as one that does not answer:
// none of its others is tried.
var ErrSite = errors.New("the cluster reserves nothing")

// Outcome is what Reserve has come to.
type Outcome struct {
	// Taken is the slot that holds, or nil.
	Taken *Slot
	// RunnerUp is the best slot after Taken that is at another site or partition, or that a
	// preference tells apart from it; nil if there is none. It has not been tried.
	RunnerUp *Slot
	// Tried are the slots that did not hold, in order, with their errors.
	Tried []Failure
	// More says that there are slots that were not tried, because there were too many.
	More bool
}

// Failure is a slot that did not hold.
type Failure struct {
	Slot Slot
	Err  error
}

// Reserve tries slots in the order of Rank, depth first (section 3.3.2), until one holds, but no
// more than a number of them. Hold reserves a slot or returns an error; after one that is an
// ErrSite the rest of its site is left out.
func Reserve(ranked iter.Seq[[]*Slot], hold func(*Slot) error, most int) (o Outcome) {
	gone := make(map[string]bool) // sites
	for group := range ranked {
		equal := o.Taken == nil // Taken may be in this group
		for _, slot := range group {
			if gone[slot.Site] {
				continue
			}
			if o.Taken != nil {
				if equal && slot.Site == o.Taken.Site && slot.Partition == o.Taken.Partition {
					continue
				}
				o.RunnerUp = clone(slot)
				return o
			}
			if len(o.Tried) == most {
				o.More = true
				return o
			}
			err := hold(slot)
			if err == nil {
				o.Taken = clone(slot)
				continue
			}
			o.Tried = append(o.Tried, Failure{*slot, err})
			gone[slot.Site] = errors.Is(err, ErrSite)
		}
	}
	return o
}

func clone(s *Slot) *Slot {
	c := *s
	return &c
}
