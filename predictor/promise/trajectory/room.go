package trajectory

import (
	"maps"
	"slices"

	"github.com/varq-project/varq/predictor/workload"
)

// If the work may begin at more than one time, slot looks for room at starts of them at equal
// distances, at the last one, and at those that Room names itself: at most mostTried in all.
const (
	starts    = 16
	mostTried = 3 * starts
)

// slot returns the room for the work of r, and when the work is to begin for it, if its job has
// nodes by a time in Unix seconds. That of a strict request begins at HoldUntil, and if the job
// must have its nodes before, there is to be room from then on. That of others may begin earlier:
// slot returns the time with the most room for a job that has its nodes from then on, the earliest
// of several. All room of enough is alike. Where there is less later, room.Late has when that
// begins.
func (p *Planner) slot(r *Request, by int64, enough float64) (at int64, room workload.Room) {
	if p.Room == nil {
		return by, workload.Room{Prob: 1}
	}
	first := min(by, max(r.Now, r.HoldUntil))
	times := []int64{first} // the later, the more room: Room need not be exact for the others
	for i := int64(starts); i > 0 && first < by; i-- {
		times = append(times, first+(by-first)*i/starts)
	}
	tried, least := make(map[int64]float64, len(times)), 0.
	for i := 0; i < len(times) && len(tried) < mostTried; i++ {
		when := times[i]
		if _, known := tried[when]; known {
			continue
		}
		found := p.Room(r.claim(when), r.Now, least)
		most := min(found.Within(when, when), enough)
		tried[when] = most
		if at == 0 || most > least || most == least && when < at {
			at, room, least = when, found, most
		}
		if len(tried) == 1 && least >= enough {
			break
		}
		for _, next := range found.Next {
			if next < by {
				times = append(times, next)
			}
		}
	}
	if at < by {
		tried[by] = 0 // so that late asks
		room.Late = append(room.Late, p.late(r, at, least, tried)...)
	}
	return max(at, r.HoldUntil), room
}

// late returns from when on the work of r has less room than at a time, where it has enough, and
// less than before. tried has other times: where it is below enough, Room need not have been exact.
func (p *Planner) late(r *Request, at int64, enough float64, tried map[int64]float64) (late []workload.Hold) {
	least := enough
	for _, when := range slices.Sorted(maps.Keys(tried)) {
		if when <= at {
			continue
		}
		if tried[when] < enough {
			room := p.room(r, when)
			if left := room.Within(when, when); left < least {
				late = append(late, workload.Hold{At: p.lasts(r, at, when, least), Prob: left})
				least = left
			}
		}
		at = when
	}
	return late
}

// room returns the room for the work of r if its job has nodes from a time on.
func (p *Planner) room(r *Request, from int64) workload.Room {
	if p.Room == nil {
		return workload.Room{Prob: 1}
	}
	return p.Room(r.claim(from), r.Now, 0)
}

// rooms returns the room for the work of r if its job has nodes from each of some times on, and
// from those before the deadline that Room names: so many at most.
func (p *Planner) rooms(r *Request, times []int64, most int) map[int64]workload.Room {
	rooms := make(map[int64]workload.Room, len(times))
	for i := 0; i < len(times) && len(rooms) < most; i++ {
		if _, known := rooms[times[i]]; known {
			continue
		}
		room := p.room(r, times[i])
		rooms[times[i]] = room
		for _, next := range room.Next {
			if max(r.Now, r.HoldUntil) < next && next < r.Deadline {
				times = append(times, next)
			}
		}
	}
	return rooms
}

// lasts returns a time between two others from which on the work of r may have less room than
// least. It has as much at the first of the two, and just before the time returned, and not at the
// other.
func (p *Planner) lasts(r *Request, enough, less int64, least float64) int64 {
	for less-enough > 1 {
		middle := enough + (less-enough)/2
		if room := p.Room(r.claim(middle), r.Now, least); room.Within(middle, middle) >= least {
			enough = middle
		} else {
			less = middle
		}
	}
	return less
}

// claim returns what the job of r claims if it has its nodes from a time on, and its work begins
// then, but not before HoldUntil.
func (r *Request) claim(from int64) workload.Claim {
	c := workload.Claim{Request: r.All(), Pieces: r.Pieces.Times(r.tasks()), Job: r.ID, From: from}
	c.Limit += max(0, r.HoldUntil-from)
	return c
}

// Claim returns what the planned job claims, with the room for which the plan was made: of one that
// must have its nodes before its work begins, from then on.
func (a *Answer) Claim() workload.Claim {
	r := Request{Job: a.Job, Tasks: a.Tasks, TasksNodes: a.TasksNodes, Pieces: a.Pieces, HoldUntil: a.Plan.Slot}
	c := r.claim(min(a.Plan.Slot, a.Plan.Last))
	c.Start = min(a.Plan.Start, c.From)
	return c
}

// start returns when the job of r is expected to have its nodes, if it becomes eligible at begin,
// is expected to have them for held seconds by the time until, and its work begins at slot. A job
// whose work need not wait may have them as soon as it is eligible.
func (r *Request) start(begin, until int64, held float64, slot int64) int64 {
	if begin >= r.HoldUntil {
		return min(slot, begin)
	}
	return min(slot, until-int64(held))
}
