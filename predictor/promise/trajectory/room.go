package trajectory

// starts is at how many times room looks for room if the work may begin at more than one.
const starts = 4

// room returns an upper bound on the probability that there is room for the work of r if it
// begins by a time, Unix seconds. The work of a strict request begins at that time. That of others
// may begin earlier: room then returns the best of some times.
func (p *Planner) room(r *Request, by int64) float64 {
	if p.Room == nil {
		return 1
	}
	best := p.Room(r.Job, r.ID, r.Now, by)
	first := max(r.Now, r.HoldUntil)
	for i := int64(0); i < starts && first < by && best < 1; i++ {
		best = max(best, p.Room(r.Job, r.ID, r.Now, first+(by-first)*i/starts))
	}
	return best
}
