package trajectory

import "slices"

// The steps between begin times, in seconds. In the last 12 hours before the deadline the
// step is the paper's 30 s. Earlier it is 5 minutes, since a step there changes the enlarged
// limit by little. With the default horizon of a week there are at most 3,313 begin times.
const (
	fineStep   = 30
	fineSpan   = 12 * 3600
	coarseStep = 300
)

// begins returns the begin times to consider, in increasing order. They are every n-th step back
// from the deadline until the latest of now, deadline - horizon and r.Earliest, which is a begin
// time too. max(now, HoldUntil), the earliest begin time that costs nothing, is added if it is
// before that.
func (r *Request) begins(horizon, n int64) []int64 {
	deadline, free := r.Deadline, max(r.Now, r.HoldUntil)
	earliest := max(r.Now, deadline-horizon, r.Earliest)
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
