package trajectory

import (
	"math"

	"github.com/varq-project/varq/predictor/limits"
)

// bounds are what the cluster allows a reservation for its work, besides what
// the work alone may have.
type bounds struct {
	longest  int64 // the enlarged limit, seconds
	earliest int64 // the begin time, Unix seconds
	// budget is how long after its begin time the job can still start, seconds:
	// a later start would run into a maintenance reservation. Below 0, even a
	// start at once would.
	budget int64
	// rule of each, for the refusal that it causes.
	longestRule, earliestRule, budgetRule limits.Rule
	// never is the rule that forbids the work itself, if one does.
	never *limits.Rule
}

// unbounded is what a cluster without limits allows.
var unbounded = bounds{longest: math.MaxInt64, budget: math.MaxInt64}

// bounds returns what the cluster allows the request.
//
// A reservation of Slurm's keeps a job off its nodes that would still run when
// it starts, by the job's time limit. A job that starts at the moment it becomes
// eligible ends, by its enlarged limit, at Deadline + work; one that starts x
// later ends x later. So the time free between there and the maintenance is all
// the time that the job may wait, less the 59 s that rounding up the limit may
// take. That a limit can be trimmed while the job waits would help, but is not
// relied on.
func (p *Planner) bounds(r *Request) bounds {
	b := unbounded
	if p.Cluster == nil {
		return b
	}
	if seconds, rule := p.Cluster.MaxLimit(r.Job); seconds != limits.None {
		b.longest, b.longestRule = seconds, rule
		if r.Job.Limit > seconds {
			b.never = &rule
			return b
		}
	}
	end := r.Deadline + r.Job.Limit
	for _, w := range p.Cluster.Blocked(r.Job) {
		switch free := w.Start - end - 59; {
		case w.End <= r.Now:
		case w.End <= r.Deadline:
			b.earliest, b.earliestRule = w.End, w.Rule
		case w.Start < end:
			b.never = &w.Rule
			return b
		case free < b.budget:
			b.budget, b.budgetRule = free, w.Rule
		}
	}
	return b
}
