package twin

import "slices"

// openings returns the first times after another at which an occupant starts or reaches its limit,
// and from which on there is room for the need for some seconds: beside the claims alone, and
// beside all jobs, even if they run until their limits.
func (n *need) openings(after, seconds int64) (times []int64) {
	for _, t := range []*timeline{n.besidePromised(), n.besideAll()} {
		if at, ok := t.opening(after, seconds); ok && !slices.Contains(times, at) {
			times = append(times, at)
		}
	}
	return times
}

// opening returns the first of the moments after a time from which on all demands are met for some
// seconds.
func (t *timeline) opening(after, seconds int64) (at int64, ok bool) {
	for _, m := range t.moments[since(t.moments, after):] {
		switch {
		case m.all > 0 && ok && m.at >= at+seconds:
			return at, true
		case m.all > 0:
			ok = false
		case !ok:
			at, ok = m.at, true
		}
	}
	return at, ok
}
