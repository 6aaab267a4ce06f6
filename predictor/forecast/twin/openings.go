package twin

import "slices"

// openings returns the first times after another at which an occupant starts or reaches its limit, and
// from which on there is room for the demands for some seconds: beside the claims alone, and beside all
// jobs, even if they run until their limits.
func (o *occupants) openings(demands []demand, after, seconds int64) (times []int64) {
	for _, sure := range []bool{false, true} {
		if at, ok := o.opening(demands, after, seconds, sure); ok && !slices.Contains(times, at) {
			times = append(times, at)
		}
	}
	return times
}

// opening returns one of openings: that beside all if sure is true, or else that beside the claims.
func (o *occupants) opening(demands []demand, after, seconds int64, sure bool) (at int64, ok bool) {
	for now := range o.changes(demands, func(c *occupant) bool { return sure || c.waits || c.from > o.now }) {
		fits := true
		for _, d := range demands {
			_, missing := d.missing()
			fits = fits && missing <= 0
		}
		switch {
		case !fits && ok && now >= at+seconds:
			return at, true
		case !fits:
			ok = false
		case !ok && now > after:
			at, ok = now, true
		}
	}
	return at, ok
}
