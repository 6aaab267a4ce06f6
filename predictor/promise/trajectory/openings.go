package trajectory

import (
	"maps"
	"slices"

	"github.com/varq-project/varq/predictor/workload"
)

const (
	// mostOpenings is the greatest number of openings of a request that are tried.
	mostOpenings = 4
	// slightly is less than any two probabilities differ by.
	slightly = 1e-9
)

// opening is a time in which the work of a request may begin, between others that leave it too
// little room.
type opening struct {
	at   int64 // the earliest time with the most room
	last int64 // the last time with room, in Unix seconds, as at
	room workload.Room
}

// bounds returns bounds within which the job of r has its nodes in the opening.
func (o *opening) bounds(r *Request, b bounds) bounds {
	if b.last = o.last; o.last == r.Deadline {
		b.last = 0
	}
	return b
}

// openings returns the last openings of a request at which there is room with a probability above
// least, the earliest first. A request whose work begins at one time alone has none. That of one
// whose work may begin at once are its stops. Others cost up to mostTried calls of Room.
func (p *Planner) openings(r *Request, least float64) (found []opening) {
	first, by := max(r.Now, r.HoldUntil), r.Deadline
	if p.Room == nil || first >= by {
		return nil
	}
	if r.atOnce() {
		for _, s := range p.stops(r) {
			if s.room.Within(s.at, s.at) > least {
				found = append(found, opening{s.at, s.at, s.room})
			}
		}
		return found
	}
	times := make([]int64, 0, mostTried)
	for i := range int64(starts + 1) {
		times = append(times, first+(by-first)*i/starts)
	}
	rooms := p.rooms(r, times, mostTried)
	var now *opening
	for _, at := range slices.Sorted(maps.Keys(rooms)) {
		room := rooms[at]
		prob := room.Within(at, at)
		switch {
		case prob <= least:
			if now != nil {
				now.last = p.lasts(r, now.last, at, least+slightly) - 1
			}
			now = nil
			continue
		case now == nil:
			found = append(found, opening{at, at, room})
			now = &found[len(found)-1]
		case prob > now.room.Within(now.at, now.at):
			now.at, now.room = at, room
		}
		now.last = at
	}
	return found[max(0, len(found)-mostOpenings):]
}

// reopen raises the probabilities of a trajectory to those that the openings of a request leave,
// where others have the nodes in between. The trajectory itself rests on one opening, that with the
// most room.
func (p *Planner) reopen(r *Request, b bounds, n int64, points []Point) {
	for _, o := range p.openings(r, highest(points)) {
		for i, pt := range p.forecasts(r, o.bounds(r, b), n) {
			if i < len(points) {
				pt.bound(r, o.at, &o.room)
				points[i].orElse(pt)
			}
		}
	}
}
