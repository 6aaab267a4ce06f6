package limits

// Maintenance returns the next of the reservations for maintenance that begins after now on one of
// these nodes, and when it does, in Unix seconds. It returns nil if none is known. One that floats
// never begins.
func (c *Cluster) Maintenance(nodes map[string]bool, now int64) (next *Reservation, start int64) {
	for i := range c.Reservations {
		v := &c.Reservations[i]
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
