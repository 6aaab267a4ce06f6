package trajectory

import (
	"fmt"
	"math"
	"sort"

	"github.com/varq-project/varq/predictor/cluster/limits"
	"github.com/varq-project/varq/predictor/slurmtime"
)

// bounds are what a reservation is allowed.
type bounds struct {
	longest     int64       // the enlarged limit, seconds
	longestRule limits.Rule // without a name if there is none
	tooLittle   string      // for what longest is, as the end of a sentence about the rule
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
		b.longest, b.longestRule, b.tooLittle = seconds, rule, ", too little for the work and the time to hold it"
	}
	b.blocked = p.Cluster.Blocked(r.Job)
	return b
}

// alwaysHeld is how long a job may hold its nodes whatever MaxHold says, in seconds.
const alwaysHeld = 3600

// allowed returns what a promise that is still to be made is allowed: what the
// cluster does, and MaxHold.
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
		b.tooLittle = ", too short a time to be as sure of it"
	}
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
