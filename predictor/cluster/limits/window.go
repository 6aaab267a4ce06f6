package limits

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/varq-project/varq/predictor/workload"
)

// Window is a stretch of time, Start included and End not, in which a request
// cannot run because Slurm reservations leave its partition too few nodes or CPUs.
type Window struct {
	Start, End int64
	Rule
}

// Stops reports whether a job that starts at a time, and runs for its time limit, would have its
// nodes at any time of the window.
func (w *Window) Stops(start, limit int64) bool { return w.Start-limit < start && start < w.End }

// Blocked returns the windows in which Slurm's reservations leave the job too few nodes or CPUs of
// its partition. They are in order of time and do not touch. The pieces are what the job needs
// of single nodes, as far as that is known. Reservations for the job's own user or account
// count too, because a job runs in a reservation only if it asks for it by name. A job inside of
// one has windows also where this one does not have its nodes. Blocked counts
// what is free at each moment. It ignores that these may be different nodes at different moments.
func (j *Job) Blocked(pieces workload.Pieces) []Window {
	windows := j.windows(pieces)
	if j.own != nil {
		return join(windows, j.outside())
	}
	return windows
}

// outside returns the windows in which the reservation that the job asks for does not have its
// nodes. A job that may start outside of it cannot when it is over, since Slurm then holds the job.
func (j *Job) outside() (windows []Window) {
	name, over := j.own.title(), int64(0)
	for s := range j.own.times() {
		if j.inside != nil {
			windows = append(windows, Window{Start: over, End: s.Start, Rule: Rule{Name: name, Says: name + " has not begun"}})
		}
		over = s.End
	}
	return append(windows, Window{Start: over, End: over + distant, Rule: Rule{Name: name, Says: name + " is over"}})
}

// Endless reports whether the window has no begin or no end that matters to anybody.
func (w *Window) Endless() bool { return w.Start == 0 || w.End-w.Start >= distant }

// distant is a time, in seconds, after all that anybody asks about.
const distant = 10 * 366 * 86400

// join returns the windows of two lists, each in order of time, in order and without overlaps. Of
// those that overlap or touch, the first one counts, and lasts for as long as all.
func join(a, b []Window) (windows []Window) {
	all := slices.SortedStableFunc(slices.Values(slices.Concat(a, b)), func(a, b Window) int { return cmp.Compare(a.Start, b.Start) })
	for _, w := range all {
		if last := len(windows) - 1; last >= 0 && w.Start <= windows[last].End {
			windows[last].End = max(windows[last].End, w.End)
		} else if w.Start < w.End {
			windows = append(windows, w)
		}
	}
	return windows
}

// windows returns those windows of Blocked that other reservations make than the one that the job
// runs in.
func (j *Job) windows(pieces workload.Pieces) []Window {
	reservations := j.others()
	if len(reservations) == 0 {
		return nil
	}
	edges := reservations.edges(j.partition.index(func(string) bool { return true }), j.cluster.Nodes)
	room := j.emptyPartition(pieces)
	var active, by []*Reservation // by are those of the last window
	var least left                // of the last window
	var windows []Window
	for i, e := range edges {
		if e.opens {
			active = append(active, e.by)
		} else {
			active = slices.DeleteFunc(active, func(v *Reservation) bool { return v == e.by })
		}
		room.change(&e)
		if i+1 == len(edges) || edges[i+1].at == e.at || room.suffices() {
			continue
		}
		last := len(windows) - 1
		if last < 0 || windows[last].End != e.at {
			windows, by, least = append(windows, Window{Start: e.at}), nil, room.all
			last++
		}
		for _, v := range active {
			if !slices.Contains(by, v) {
				by = append(by, v)
			}
		}
		least = left{min(least.nodes, room.left.nodes), min(least.cpus, room.left.cpus)}
		windows[last].End, windows[last].Rule = edges[i+1].at, room.blocking(by, least)
	}
	return windows
}

// room is what reservations leave a job of a partition at a moment.
type room struct {
	job       *workload.Request
	where     string // as Cluster.Where has it
	pieces    workload.Pieces
	taken     taken
	all, left left
}

// left is what is left to a job: nodes that it may have a part of, and CPUs.
type left struct{ nodes, cpus int64 }

// emptyPartition returns what the partition of the job has while there is no reservation.
func (j *Job) emptyPartition(pieces workload.Pieces) *room {
	names := j.partition.Nodes
	room := room{job: &j.Request, where: j.cluster.Where(&j.Request), pieces: pieces, taken: make(taken, len(names))}
	for i, name := range names {
		cpus := j.cluster.Nodes[name].CPUs
		room.taken[i].cpus = cpus
		room.all.nodes++
		room.all.cpus += cpus
	}
	room.left = room.all
	return &room
}

// change counts a start or an end.
func (m *room) change(e *edge) {
	for _, has := range e.nodes {
		n := &m.taken[has.node]
		m.left.nodes -= m.fits(n)
		m.left.cpus -= n.free()
		n.change(&has, e.opens)
		m.left.nodes += m.fits(n)
		m.left.cpus += n.free()
	}
}

// fits returns 1 if a piece of the job fits on what is left of a node, and otherwise 0.
func (m *room) fits(n *split) int64 {
	if n.whole > 0 || n.part > 0 && (m.pieces.Exclusive || n.free() < max(1, int64(m.pieces.Each.CPUs))) {
		return 0
	}
	return 1
}

// suffices reports whether the job has room beside the reservations: as many nodes as it needs at
// least, and CPUs for all of it unless the partition never has as many, or they are not known.
func (m *room) suffices() bool {
	return m.left.nodes >= int64(m.job.Nodes) && (m.left.cpus >= int64(m.job.CPUs) || m.all.cpus < int64(m.job.CPUs))
}

// blocking returns the rule of a window: some reservations leave a partition so little.
func (m *room) blocking(by []*Reservation, least left) Rule {
	leaves := fmt.Sprintf("%d of %d nodes", least.nodes, m.all.nodes)
	switch {
	case least.nodes >= int64(m.job.Nodes):
		leaves = fmt.Sprintf("%d of %d CPUs", least.cpus, m.all.cpus)
	case slices.ContainsFunc(by, func(v *Reservation) bool { return v.Cores != nil }):
		leaves += " with room for such a job"
	default:
		leaves += forSuch(m.job)
	}
	if len(by) == 1 {
		title := by[0].title()
		return Rule{Name: title, Says: fmt.Sprintf("%s leaves %s %s", title, m.where, leaves)}
	}
	title := "reservations " + and(names(by))
	if len(names(by)) < len(by) {
		title = "several of Slurm's reservations"
	}
	return Rule{Name: title, Says: fmt.Sprintf("%s leave %s only %s at times", title, m.where, leaves)}
}

// and joins names as in a sentence.
func and(names []string) string {
	last := len(names) - 1
	if last < 1 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:last], ", ") + " and " + names[last]
}
