package trajectory

import "github.com/varq-project/varq/predictor/workload"

// starts is at how many times slot looks for room if the work may begin at more than one.
const starts = 16

// slot returns the room for the work of r, and when the work is to begin for it, by a time in Unix
// seconds. The work of a strict request begins at that time. That of others may begin earlier:
// slot returns the time with the most room, the earliest of several.
func (p *Planner) slot(r *Request, by int64) (at int64, room workload.Room) {
	if p.Room == nil {
		return by, workload.Room{Prob: 1}
	}
	first := max(r.Now, r.HoldUntil)
	for i := int64(0); i < starts && first < by && room.Prob < 1; i++ {
		when := first + (by-first)*i/starts
		if found := p.Room(r.claim(when), r.Now); found.Prob > room.Prob {
			at, room = when, found
		}
	}
	if room.Prob < 1 {
		if found := p.Room(r.claim(by), r.Now); at == 0 || found.Prob > room.Prob {
			at, room = by, found
		}
	}
	return at, room
}

// claim returns what the job of r claims if its work begins at a time.
func (r *Request) claim(from int64) workload.Claim {
	return workload.Claim{Request: r.Job, Pieces: r.Pieces, Job: r.ID, From: from}
}

// start returns when the job of r is expected to have its nodes, if it becomes eligible at begin, is
// expected to have them for held seconds by the time until, and its work begins at slot. A job
// whose work need not wait may have them as soon as it is eligible.
func (r *Request) start(begin, until int64, held float64, slot int64) int64 {
	if begin >= r.HoldUntil {
		return min(slot, begin)
	}
	return min(slot, until-int64(held))
}
