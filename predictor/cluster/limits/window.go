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
	edges := c.edges(r.Partition)
	if len(edges) == 0 {
		return nil
	}
	total := len(c.Partitions[r.Partition].Nodes)
	free, taken := total, make([]int, total) // by how many reservations each node is
	var active, by []*Reservation            // by are those of the last window
	fewest := 0                              // nodes that are free in the last window
	var windows []Window
	for i, e := range edges {
		if e.opens {
			active = append(active, e.by)
		} else {
			active = slices.DeleteFunc(active, func(v *Reservation) bool { return v == e.by })
		}
		for _, n := range e.nodes {
			if e.opens {
				if taken[n]++; taken[n] == 1 {
					free--
				}
			} else if taken[n]--; taken[n] == 0 {
				free++
			}
		}
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
	nodes []int // their places in the partition
}

// edges returns the starts and ends of the reservations that have nodes of the
// partition, in order of time.
func (c *Cluster) edges(partition string) []edge {
	if len(c.Reservations) == 0 {
		return nil
	}
	mine := c.index(partition, func(string) bool { return true })
	var edges []edge
	for i := range c.Reservations {
		v := &c.Reservations[i]
		nodes := v.places(mine)
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
