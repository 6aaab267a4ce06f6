package trajectory

import "slices"

// The steps between begin times, in seconds: the paper's 30 s in the last 12 hours
// before the deadline, and 5 minutes before that, where a step changes the enlarged
// limit by little. With the default horizon of a week there are at most 3,313 begin
// times.
const (
	fineStep   = 30
	fineSpan   = 12 * 3600
	coarseStep = 300
)

// begins returns the begin times to consider, in increasing order. They are every n-th
// step back from the deadline, as far as now or the horizon, whichever is nearer, and
// the end of that span. A begin time from which holding costs nothing, which is
// max(now, HoldUntil), is added where it is beyond the horizon.
func (r *Request) begins(horizon, n int64) []int64 {
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
