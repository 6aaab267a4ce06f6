package trajectory

import (
	"fmt"
	"math"
	"sort"

	"github.com/varq-project/varq/predictor/cluster/limits"
	"github.com/varq-project/varq/predictor/slurmtime"
)

// bounds restrict the submissions of a job.
type bounds struct {
	// longest bounds the enlarged time limit, in seconds. longestRule says why; it
	// has no name if nothing bounds it. consequence ends a sentence that begins with
	// what the rule says.
	longest     int64
	longestRule limits.Rule
	consequence string
	// blocked are the windows in which the job cannot run. They are disjoint and in
	// the order of time.
	blocked []limits.Window
}

// unlimited is a time limit that bounds nothing.
const unlimited = math.MaxInt64

// bounds returns the bounds that the cluster sets.
func (p *Planner) bounds(r *Request) bounds {
	b := bounds{longest: unlimited}
	if p.Cluster == nil {
		return b
	}
	if seconds, rule := p.Cluster.MaxLimit(r.Job); seconds != limits.None {
		b.longest, b.longestRule, b.consequence = seconds, rule, ", too little for the work and the time to hold it"
	}
	b.blocked = p.Cluster.Blocked(r.Job)
	return b
}

// alwaysHeld is a time for which every job may hold its nodes, in seconds, however small
// MaxHold is.
const alwaysHeld = 3600

// allowed returns the bounds of a new promise: those of the cluster, and MaxHold.
func (p *Planner) allowed(r *Request) bounds {
	b := p.bounds(r)
	hold := max(alwaysHeld, p.MaxHold*float64(r.Job.Limit))
	if p.MaxHold == 0 || hold > year {
		return b
	}
	if longest := minutes(r.Job.Limit + int64(hold)); longest < b.longest {
		b.longest = longest
		b.longestRule = limits.Rule{
			Name: "varq max_hold",
			Says: fmt.Sprintf("a job of %s may hold its nodes for %s before its work (max_hold)",
				slurmtime.FormatDuration(r.Job.Limit), slurmtime.FormatDuration(int64(hold))),
		}
		b.consequence = ", too short a time to be as sure of it"
	}
	return b
}

// ahead returns the first blocked window that ends after time t, or nil.
func (b *bounds) ahead(t int64) *limits.Window {
	i := sort.Search(len(b.blocked), func(i int) bool { return b.blocked[i].End > t })
	if i == len(b.blocked) {
		return nil
	}
	return &b.blocked[i]
}

// budget returns how long after it becomes eligible the job may start, in seconds. It
// must start by the deadline. It must also start so early that its time limit ends
// before the next blocked window, because Slurm starts no job that could run into a
// reservation. A negative budget means that even a start at once is too late. The
// budget is conservative: the job could also start after the window, or its limit
// could be trimmed while it waits.
func (b *bounds) budget(r *Request, s Submission) int64 {
	budget := r.Deadline - s.Begin
	if w := b.ahead(max(r.Now, s.Begin)); w != nil {
		budget = min(budget, w.Start-s.Limit-s.Begin)
	}
	return budget
}
