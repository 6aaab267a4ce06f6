package course

import (
	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/live/ledger"
	"github.com/varq-project/varq/predictor/live/look"
	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/workload"
)

// Skew is the greatest difference, in seconds, between the clocks of varqd and of Slurm. A job that
// starts in the last moment before its deadline must not count as late.
const Skew = 2

// Queue is Slurm's queue, or a part of it. Comments name plans. A job claims the plan that its
// comment names if job and plan are of the same user.
type Queue struct {
	*look.Look
	// asked, if not nil, has the ids of the only jobs that were asked for. The Queue knows nothing
	// of other jobs, nor of claimants.
	asked map[int64]bool
}

// NewQueue returns the whole queue.
func NewQueue(l *look.Look) *Queue { return &Queue{Look: l} }

// PartOfQueue returns the part of the queue that has the jobs with the asked ids.
func PartOfQueue(l *look.Look, asked map[int64]bool) *Queue { return &Queue{l, asked} }

// Whole reports whether q is the whole queue.
func (q *Queue) Whole() bool { return q.asked == nil }

// Shows reports whether e's job, if it were in Slurm's queue, would be in q.
func (q *Queue) Shows(e *ledger.Entry) bool {
	return q.asked == nil || e.Job != 0 && q.asked[e.Job]
}

// Find returns the job that e is bound to. If e is bound to no job, it returns the job that claims
// e's plan. It returns nil if that job is not in the queue. Of an array it returns a job that
// stands for the tasks that e promises.
func (q *Queue) Find(e *ledger.Entry) *slurm.QueueEntry {
	if e.Tasks > 0 {
		return q.findArray(e)
	}
	if e.Job == 0 {
		return q.Plans.Claimant(e.ID, e.User)
	}
	// Slurm reuses ids, also for jobs of other users.
	if j := q.ByID[e.Job]; j != nil && IsQueued(e, j) {
		return j
	}
	return nil
}

// IsQueued is IsJobOf for a job in the queue. A job that Slurm has requeued remains e's even if its
// user has changed its comment since. Slurm gives no other job the id of a requeued one.
func IsQueued(e *ledger.Entry, j *slurm.QueueEntry) bool {
	return IsJobOf(e, &j.Job) || j.ID == e.Job && j.User == e.User && j.RestartCount > 0 && j.Submit > e.Progress.Submit
}

// IsRunOf reports whether j is the job that e is bound to, in the present submission or another.
func IsRunOf(e *ledger.Entry, j *workload.Job) bool {
	plan, _ := api.PlanInComment(j.Comment)
	return j.ID == e.Job && j.User == e.User && (j.Submit == e.Progress.Submit || plan == e.ID)
}

// IsJobOf reports whether j is the job that e is bound to. j is the submission that e knows, or
// another one by a requeue, which keeps the job's id and comment. Normally the other one is later.
// It is earlier if slurmctld was killed before it had saved the requeue: it then goes on with the
// earlier submission. That one is still in the queue, or ended after the submission that was
// forgotten.
func IsJobOf(e *ledger.Entry, j *workload.Job) bool {
	return IsRunOf(e, j) && (j.Submit >= e.Progress.Submit || j.End == 0 || j.End > e.Progress.Submit+Skew)
}
