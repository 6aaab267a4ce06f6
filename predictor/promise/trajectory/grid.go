package trajectory

import "slices"

// The steps between candidates: the paper's 30 s in the last 12 hours before the
// deadline, and 5 minutes before that, where an enlarged limit hardly changes
// from one to the next. With the default horizon of a week that is at most
// 3,313 candidates.
const (
	fineStep   = 30
	fineSpan   = 12 * 3600
	coarseStep = 300
)

// starts returns the begin times to consider, in increasing order: every one is
// a whole number of steps before the deadline, except that the first may be now
// itself. None is before now or further than horizon from the deadline, but for
// the moment from which a start costs nothing, now or r.HoldUntil. Steps are
// thinned to every n-th.
func (r *Request) starts(horizon, n int64) []int64 {
	deadline, free := r.Deadline, max(r.Now, r.HoldUntil)
	earliest := max(r.Now, deadline-horizon)
	span := deadline - earliest
	most := min(span, fineSpan)/(fineStep*n) + max(0, span-fineSpan)/(coarseStep*n) + 2
	back := make([]int64, 0, most) // seconds before the deadline, increasing
	for b := fineStep * n; b <= min(fineSpan, span); b += fineStep * n {
		back = append(back, b)
	}
	for b := fineSpan + coarseStep*n; b <= span; b += coarseStep * n {
		back = append(back, b)
	}
	if len(back) == 0 || back[len(back)-1] < span {
		back = append(back, span)
	}
	if free < earliest {
		back = append(back, deadline-free)
	}
	slices.Reverse(back)
	for i, b := range back {
		back[i] = deadline - b
	}
	return back
}
