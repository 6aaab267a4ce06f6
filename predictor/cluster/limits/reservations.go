package limits

import (
	"cmp"
	"slices"

	"github.com/varq-project/varq/predictor/workload"
)

// Reservations are Slurm's own reservations.
type Reservations []Reservation

// names returns the names of those that users may see.
func names(of []*Reservation) (names []string) {
	for _, v := range of {
		if !v.Hidden {
			names = append(names, v.Name)
		}
	}
	return names
}

// Maintenance returns the next of the reservations for maintenance that begins after now on one of
// these nodes, and when it does, in Unix seconds. It returns nil if none is known. One that floats
// never begins.
func (l Reservations) Maintenance(nodes map[string]bool, now int64) (next *Reservation, start int64) {
	for i := range l {
		v := &l[i]
		if !v.Maintenance || !v.has(nodes) {
			continue
		}
		for span := range v.times() {
			if span.Start > now {
				if next == nil || span.Start < start {
					next, start = v, span.Start
				}
				break
			}
		}
	}
	return next, start
}

// Encloses reports whether jobs of the reservation of this name run inside of it alone.
func (l Reservations) Encloses(name string) bool {
	v := l.Named(name)
	return v != nil && !v.Flex
}

// Where names the place in which a job of the request has its nodes, as in a sentence: "partition
// main", or "reservation course" if it runs inside of one alone.
func (c *Cluster) Where(r *workload.Request) string {
	if c.Reservations.Encloses(r.Reservation) {
		return "reservation " + r.Reservation
	}
	return "partition " + r.Partition
}

// Named returns the reservation of a name, or nil.
func (l Reservations) Named(name string) *Reservation {
	for i := range l {
		if name != "" && l[i].Name == name {
			return &l[i]
		}
	}
	return nil
}

// holding returns the reservations that have nodes of a partition now, and are not over by a
// deadline.
func (l Reservations) holding(p *Partition, now, deadline int64) (list []*Reservation) {
	nodes := p.names()
	for i := range l {
		v := &l[i]
		if span, begun := v.Begun(now); begun && deadline < span.End && v.has(nodes) {
			list = append(list, v)
		}
	}
	return list
}

// floating returns the reservation that floats, and that bounds the time limit of a job of some
// nodes of a partition: that job has too few nodes outside of it and of those that are less far
// ahead. Each counts as having its nodes whole. floating returns nil if there is none.
func (l Reservations) floating(p *Partition, nodes int32) *Reservation {
	var floats []*Reservation
	for i := range l {
		if v := &l[i]; v.Floats {
			floats = append(floats, v)
		}
	}
	if len(floats) == 0 {
		return nil
	}
	slices.SortStableFunc(floats, func(a, b *Reservation) int { return cmp.Compare(a.Ahead, b.Ahead) })
	outside := p.names()
	for _, v := range floats {
		for _, name := range v.Nodes {
			delete(outside, name)
		}
		if len(outside) < int(nodes) {
			return v
		}
	}
	return nil
}

// edge is the start or the end of a reservation.
type edge struct {
	at    int64
	opens bool
	by    *Reservation
	nodes []place
}

// edges returns the starts and ends of the reservations that have nodes of an index by name, in
// order of time.
func (l Reservations) edges(index map[string]int, nodes map[string]Node) []edge {
	var edges []edge
	for i := range l {
		v := &l[i]
		places := v.places(index, nodes)
		if len(places) == 0 {
			continue
		}
		for s := range v.times() {
			edges = append(edges, edge{s.Start, true, v, places}, edge{s.End, false, v, places})
		}
	}
	slices.SortStableFunc(edges, func(a, b edge) int { return cmp.Compare(a.at, b.at) })
	return edges
}
