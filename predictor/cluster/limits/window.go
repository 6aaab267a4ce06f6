package limits

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/varq-project/varq/predictor/workload"
)

// Window is a stretch of time, Start included and End not, in which a request
// cannot run because Slurm reservations leave its partition too few nodes.
type Window struct {
	Start, End int64
	Rule
}

// Stops reports whether a job with a time limit that starts at a time would run into the window, or starts
// in it.
func (w *Window) Stops(start, limit int64) bool { return w.Start-limit < start && start < w.End }

// Blocked returns the windows in which too few nodes of the request's partition are outside of
// Slurm's reservations. They are in order of time and do not touch. Reservations for the
// request's own user or account count too, because a job runs in a reservation only if it asks
// for it by name. Blocked counts the free nodes at each moment. It ignores that they may be
// different nodes at different moments.
func (c *Cluster) Blocked(r workload.Request) []Window {
	if len(c.Reservations) == 0 {
		return nil
	}
	edges := c.edges(c.index(r.Partition, func(string) bool { return true }))
	total := len(c.Partitions[r.Partition].Nodes)
	free, taken := total, make(taken, total)
	var active, by []*Reservation // by are those of the last window
	fewest := 0                   // nodes that are free in the last window
	var windows []Window
	for i, e := range edges {
		if e.opens {
			active = append(active, e.by)
		} else {
			active = slices.DeleteFunc(active, func(v *Reservation) bool { return v == e.by })
		}
		taken.change(&e, func(_, sign int) { free -= sign })
		if i+1 == len(edges) || edges[i+1].at == e.at || free >= int(r.Nodes) {
			continue
		}
		last := len(windows) - 1
		if last < 0 || windows[last].End != e.at {
			windows, by, fewest = append(windows, Window{Start: e.at}), nil, total
			last++
		}
		for _, v := range active {
			if !slices.Contains(by, v) {
				by = append(by, v)
			}
		}
		fewest = min(fewest, free)
		windows[last].End, windows[last].Rule = edges[i+1].at, c.blocking(r.Partition, by, fewest)
	}
	return windows
}

// Kept is a stretch of time in which Slurm's reservations have so many CPUs.
type Kept struct {
	Span
	CPUs int64
}

// Kept returns when Slurm's reservations have some of the nodes whose CPUs are given by name: the first most of the stretches that are
// not over at a time, in order. With e starts and ends of reservations it takes O(e log e), and O(1) for each node of theirs.
func (c *Cluster) Kept(cpus map[string]int64, at int64, most int) []Kept {
	if len(c.Reservations) == 0 {
		return nil
	}
	kept, own, index := int64(0), make([]int64, 0, len(cpus)), make(map[string]int, len(cpus))
	for name, n := range cpus {
		index[name] = len(own)
		own = append(own, n)
	}
	edges, taken := c.edges(index), make(taken, len(own))
	var spans []Kept
	for i, e := range edges {
		taken.change(&e, func(n, sign int) { kept += int64(sign) * own[n] })
		if i+1 == len(edges) || edges[i+1].at == e.at || kept == 0 {
			continue
		}
		last := len(spans) - 1
		switch {
		case last >= 0 && spans[last].End == e.at && spans[last].CPUs == kept:
			spans[last].End = edges[i+1].at
			continue
		case last >= 0 && spans[last].End <= at:
			spans = spans[:last]
		case len(spans) == most:
			return spans
		}
		spans = append(spans, Kept{Span{e.at, edges[i+1].at}, kept})
	}
	if last := len(spans) - 1; last >= 0 && spans[last].End <= at {
		spans = spans[:last]
	}
	return spans
}

// taken is by how many reservations each node is taken.
type taken []int

// change counts a start or an end, and calls changed for each node that is taken since (sign 1) or no longer is (-1).
func (t taken) change(e *edge, changed func(node, sign int)) {
	for _, n := range e.nodes {
		if e.opens {
			if t[n]++; t[n] == 1 {
				changed(n, 1)
			}
		} else if t[n]--; t[n] == 0 {
			changed(n, -1)
		}
	}
}

// blocking returns the rule of a window: some reservations leave a partition so few nodes.
func (c *Cluster) blocking(partition string, by []*Reservation, free int) Rule {
	total := len(c.Partitions[partition].Nodes)
	if len(by) == 1 {
		name := by[0].Name
		return Rule{Name: "reservation " + name, Says: fmt.Sprintf("reservation %s leaves partition %s %d of %d nodes", name, partition, free, total)}
	}
	names := make([]string, len(by))
	for i, v := range by {
		names[i] = v.Name
	}
	list := strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
	return Rule{Name: "reservations " + list, Says: fmt.Sprintf("reservations %s leave partition %s only %d of %d nodes at times", list, partition, free, total)}
}

// index returns the places of those of a partition's nodes for which ok returns true, in the list of
// its nodes.
func (c *Cluster) index(partition string, ok func(name string) bool) map[string]int {
	nodes := make(map[string]int, len(c.Partitions[partition].Nodes))
	for i, name := range c.Partitions[partition].Nodes {
		if ok(name) {
			nodes[name] = i
		}
	}
	return nodes
}

// places returns the places of the reservation's nodes that are in the index.
func (v *Reservation) places(index map[string]int) []int {
	places := make([]int, 0, len(v.Nodes))
	for _, name := range v.Nodes {
		if i, ok := index[name]; ok {
			places = append(places, i)
		}
	}
	return places
}

// edge is the start or the end of a reservation.
type edge struct {
	at    int64
	opens bool
	by    *Reservation
	nodes []int // their places in the index
}

// edges returns the starts and ends of the reservations that have nodes of an
// index by name, in order of time.
func (c *Cluster) edges(index map[string]int) []edge {
	var edges []edge
	for i := range c.Reservations {
		v := &c.Reservations[i]
		nodes := v.places(index)
		if len(nodes) == 0 {
			continue
		}
		for s := range v.times() {
			edges = append(edges, edge{s.Start, true, v, nodes}, edge{s.End, false, v, nodes})
		}
	}
	slices.SortStableFunc(edges, func(a, b edge) int { return cmp.Compare(a.at, b.at) })
	return edges
}
