package limits

import (
	"iter"
	"slices"
	"strings"

	"github.com/varq-project/varq/predictor/workload"
)

// title names the reservation in a sentence.
func (v *Reservation) title() string {
	if v.Hidden {
		return "one of Slurm's reservations"
	}
	return "reservation " + v.Name
}

// times returns each time at which the reservation has its nodes, in order, and without overlaps.
// One that floats has none.
func (v *Reservation) times() iter.Seq[Span] {
	return func(yield func(Span) bool) {
		over := int64(0)
		for i := 0; i < 1+len(v.Again) && !v.Floats; i++ {
			s := Span{v.Start, v.End}
			if i > 0 {
				s = v.Again[i-1]
			}
			if s.Start = max(s.Start, over); s.Start >= s.End {
				continue
			}
			if over = s.End; !yield(s) {
				return
			}
		}
	}
}

// Begun reports whether the reservation has its nodes at a time, and from when until when. One that
// floats never has.
func (v *Reservation) Begun(now int64) (span Span, begun bool) {
	for span := range v.times() {
		if span.Start <= now && now < span.End {
			return span, true
		}
	}
	return Span{}, false
}

// has reports whether one of these nodes is in the reservation.
func (v *Reservation) has(nodes map[string]bool) bool {
	for _, name := range v.Nodes {
		if nodes[name] {
			return true
		}
	}
	return false
}

// admits reports whether a reservation is open to the request's user or account. A name after
// "-" is shut out.
func (v *Reservation) admits(r *workload.Request) bool {
	if slices.Contains(v.Users, "-"+r.User) || slices.Contains(v.Accounts, "-"+r.Account) {
		return false
	}
	named := false
	for _, name := range slices.Concat(v.Users, v.Accounts) {
		named = named || !strings.HasPrefix(name, "-")
	}
	return !named || slices.Contains(v.Users, r.User) || slices.Contains(v.Accounts, r.Account)
}

// places returns what the reservation has of the nodes that are in the index.
func (v *Reservation) places(index map[string]int, nodes map[string]Node) []place {
	places := make([]place, 0, len(v.Nodes))
	for _, name := range v.Nodes {
		if i, ok := index[name]; ok {
			cpus, part := v.part(name, nodes)
			places = append(places, place{i, !part, cpus})
		}
	}
	return places
}

// part returns how many CPUs the reservation has of a node. It reports false if it has all of the
// node, or that is not known.
func (v *Reservation) part(name string, nodes map[string]Node) (cpus int64, part bool) {
	cores, known := v.Cores[name]
	threads := nodes[name].Threads
	return cores * threads, known && threads > 0 && !v.Floats
}
