package trajectory

import (
	"math"
	"sort"

	"github.com/varq-project/varq/predictor/limits"
)

// bounds are what the cluster allows a reservation.
type bounds struct {
	longest     int64       // the enlarged limit, seconds
	longestRule limits.Rule // without a name if there is none
	// blocked are the windows in which the job cannot run, in order of time,
	// apart from one another.
	blocked []limits.Window
}

// unlimited is as long as a limit can be.
const unlimited = math.MaxInt64

// bounds returns what the cluster allows the request.
func (p *Planner) bounds(r *Request) bounds {
	b := bounds{longest: unlimited}
	if p.Cluster == nil {
		return b
	}
	if seconds, rule := p.Cluster.MaxLimit(r.Job); seconds != limits.None {
		b.longest, b.longestRule = seconds, rule
	}
	b.blocked = p.Cluster.Blocked(r.Job)
	return b
}

// ahead returns the window at time t or, if there is none, the next after it.
// Without either it is nil.
func (b *bounds) ahead(t int64) *limits.Window {
	i := sort.Search(len(b.blocked), func(i int) bool { return b.blocked[i].End > t })
	if i == len(b.blocked) {
		return nil
	}
	return &b.blocked[i]
}

// budget returns how long after it becomes eligible the job can start and be of
// use, seconds: by the deadline, and so early that it ends, by its limit, before
// the next window. Slurm starts no job that would run into a reservation. Below
// 0, even a start at once would not do. That the job might start after that
// window, or that its limit can be trimmed while it waits, is not relied on.
func (b *bounds) budget(r *Request, s Submission) int64 {
	budget := r.Deadline - s.Begin
	if w := b.ahead(max(r.Now, s.Begin)); w != nil {
		budget = min(budget, w.Start-s.Limit-s.Begin)
	}
	return budget
}
