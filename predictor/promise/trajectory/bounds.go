package trajectory

import (
	"fmt"
	"iter"
	"math"
	"sort"

	"github.com/varq-project/varq/predictor/cluster/limits"
	"github.com/varq-project/varq/predictor/slurmtime"
	"github.com/varq-project/varq/predictor/workload"
)

// bounds restrict the submissions of a job.
type bounds struct {
	// longest is the greatest enlarged time limit, in seconds. longestRule is the rule
	// that sets it; the rule has no name if longest is unlimited. A refusal's sentence
	// consists of longestRule.Says and consequence.
	longest     int64
	longestRule limits.Rule
	consequence string
	// resume is how long nodes may take to be powered up, in seconds, by resumeRule, and waking how
	// long if the job is eligible now.
	resume, waking int64
	resumeRule     limits.Rule
	// blocked are the windows in which the job cannot run. They are disjoint and in
	// the order of time.
	blocked []limits.Window
	// last is by when the job must have its nodes, if that is before the deadline, or 0.
	last int64
}

// unlimited is the value of longest without a bound.
const unlimited = math.MaxInt64

// tooLittle is the consequence of a limit of Slurm's.
const tooLittle = ", too little for the work and the time to hold it"

// bounds returns the bounds that the cluster sets.
func (p *Planner) bounds(r *Request) bounds {
	b := bounds{longest: unlimited}
	if p.Cluster == nil {
		return b
	}
	job := p.Cluster.Job(r.Job, r.Needs)
	for _, each := range append(r.bindingOthers(p.Cluster), job) {
		if seconds, rule := each.MaxLimit(); seconds != limits.None && seconds < b.longest {
			b.longest, b.longestRule, b.consequence = seconds, rule, tooLittle
		}
	}
	b.blocked = p.Cluster.Job(r.All(), r.Needs).Blocked(r.Pieces)
	b.resume, b.resumeRule = job.Resume()
	b.waking, _ = job.Waking()
	return b
}

// others returns the job of r in each of the further partitions in which Slurm may start it.
func (r *Request) others(c *limits.Cluster) (jobs []*limits.Job) {
	for _, partition := range r.Others {
		job := r.Job
		job.Partition, job.NodeSet = partition, ""
		jobs = append(jobs, c.Job(job, r.Needs))
	}
	return jobs
}

// bindingOthers returns those others within whose limits the job must be, too: all or none.
func (r *Request) bindingOthers(c *limits.Cluster) []*limits.Job {
	if !c.EachPartition {
		return nil
	}
	return r.others(c)
}

// Of the longest time limit that Slurm allows, the work of a job without one of its own leaves this
// share for holding nodes, but no more than so many seconds.
const (
	holdShare = 8
	mostHold  = 12 * 3600
)

// leaveHold returns the time limit of the work of a job whose user has named none, and that has
// therefore the partition's: so long that its nodes can be held before the work, whole minutes.
func leaveHold(c *limits.Cluster, job workload.Request) int64 {
	longest, _ := c.Job(job, nil).MaxLimit()
	if longest == limits.None {
		return job.Limit
	}
	hold := min(longest/holdShare, mostHold)
	return min(job.Limit, max(60, (longest-hold)/60*60))
}

// checkShares returns the rule by which the tasks of r would wait for others to end, beside jobs,
// or nil.
func (r *Request) checkShares(c *limits.Cluster, jobs iter.Seq[*workload.Job]) *limits.Rule {
	rule := c.Job(r.Job, r.Needs).CheckShares(r.ID, r.Deadline, r.besideTasks(jobs))
	if rule != nil && r.tasks() > 1 {
		return &limits.Rule{Name: rule.Name, Says: rule.Says + fmt.Sprintf(" (the other %d promised tasks of the array among them)", r.tasks()-1)}
	}
	return rule
}

// limitBeside returns the longest time limit that the tasks of r may have beside jobs, as
// limits.Job.LimitBeside.
func (r *Request) limitBeside(c *limits.Cluster, jobs iter.Seq[*workload.Job]) (int64, limits.Rule) {
	return c.Job(r.All(), r.Needs).LimitBeside(r.ID, r.Deadline, jobs)
}

// Beside returns the rule by which the planned job would wait for others to end, beside jobs, or
// nil; and the longest time limit that it may have beside them, or limits.None. id is that of the
// job if it has been submitted already.
func (p *Planner) Beside(a *Answer, id, deadline int64, jobs iter.Seq[*workload.Job]) (*limits.Rule, int64) {
	r := &Request{Job: a.Job, Tasks: a.Tasks, TasksNodes: a.TasksNodes, ID: id, Deadline: deadline}
	longest, _ := r.limitBeside(p.Cluster, jobs)
	return r.checkShares(p.Cluster, jobs), longest
}

// alwaysAllowed is how many seconds the nodes of any job may idle, whatever MaxHold is.
const alwaysAllowed = 3600

// allowed returns the bounds of a new promise: those of the cluster, what other jobs leave of them,
// and MaxHold.
func (p *Planner) allowed(r *Request) bounds {
	b := p.bounds(r)
	if p.Cluster != nil && p.Jobs != nil {
		if seconds, rule := r.limitBeside(p.Cluster, p.Jobs); seconds != limits.None && seconds < b.longest {
			b.longest, b.longestRule, b.consequence = seconds, rule, tooLittle
		}
	}
	hold := max(alwaysAllowed, p.MaxHold*float64(r.Job.Limit))
	if p.MaxHold == 0 || hold > year {
		return b
	}
	if longest := minutes(r.Job.Limit + int64(hold)); longest < b.longest {
		b.longest = longest
		b.longestRule = limits.Rule{
			Name: "varq max_hold",
			Says: fmt.Sprintf("the nodes of a job of %s may idle for at most %s before the work (the site's max_hold)",
				slurmtime.FormatDuration(r.Job.Limit), slurmtime.FormatDuration(int64(hold))),
		}
		b.consequence = tooShort(r.Prob)
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

// asleep reports whether nodes may have to be powered up for the submission s before the deadline,
// and too little time is left for that. A node that is up now may be powered down until the job is
// eligible.
func (b *bounds) asleep(r *Request, s Submission) bool {
	left := r.Deadline - s.Begin
	return s.Begin > r.Now && left < b.resume || s.Begin == r.Now && left < b.waking
}

// budget returns the longest wait, in seconds, after which the submission s starts in time. The job
// must start by the deadline. Its time limit must also end before the next blocked window begins,
// because Slurm starts no job that could run into a Slurm reservation. Nodes must have the time to
// be powered up. If the budget is negative, even a start without any wait is too late. The budget
// is conservative: the job could also start after the window, or its limit could be trimmed while
// it waits.
func (b *bounds) budget(r *Request, s Submission) int64 {
	if b.asleep(r, s) {
		return -1
	}
	budget := r.Deadline - s.Begin
	if r.offered {
		budget = min(budget, r.Deadline-r.comesBy())
	}
	if b.last != 0 {
		budget = min(budget, b.last-s.Begin)
	}
	if w := b.ahead(max(r.Now, s.Begin)); w != nil {
		budget = min(budget, w.Start-s.Limit-s.Begin)
	}
	return budget
}
