package course

import (
	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/live/ledger"
	"github.com/varq-project/varq/predictor/live/look"
	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/workload"
)

// Skew is the greatest difference, in seconds, between the clocks of varqd and of Slurm. A
// job that starts in its last moment must not count as late.
const Skew = 2

// Queue is Slurm's queue, or a part of it. Comments name plans. A job claims the plan that its
// comment names if job and plan are of the same user.
type Queue struct {
	*look.Look
	// asked, if not nil, has the ids of the only jobs that were asked for. Of all other jobs,
	// and of claimants, nothing is known.
	asked map[int64]bool
}

// NewQueue returns the whole queue.
func NewQueue(l *look.Look) *Queue { return &Queue{Look: l} }

// PartOfQueue returns the jobs that were asked for by these ids.
func PartOfQueue(l *look.Look, asked map[int64]bool) *Queue { return &Queue{l, asked} }

// Whole reports whether q is the whole queue.
func (q *Queue) Whole() bool { return q.asked == nil }

// Shows reports whether e's job, if it were in Slurm's queue, would be in q.
func (q *Queue) Shows(e *ledger.Entry) bool {
	return q.asked == nil || e.Job != 0 && q.asked[e.Job]
}

// Find returns the job that e is bound to. If e is bound to no job, it returns the job
// that claims e's plan. It returns nil if that job is not in the queue.
func (q *Queue) Find(e *ledger.Entry) *slurm.QueueEntry {
	if e.Job == 0 {
		return q.Plans.Claimant(e.ID, e.User)
	}
	// Slurm uses ids again, also for jobs of other users.
	if j := q.ByID[e.Job]; j != nil && IsQueued(e, j) {
		return j
	}
	return nil
}

// IsQueued is isJobOf for a job in the queue. One that Slurm has put back there is e's whatever its
// comment says by now: its user may have changed that. No job has the number of another that was
// requeued.
func IsQueued(e *ledger.Entry, j *slurm.QueueEntry) bool {
	return IsJobOf(e, &j.Job) || j.ID == e.Job && j.User == e.User && j.RestartCount > 0 && j.Submit > e.Progress.Submit
}

// IsRunOf reports whether j is the job that e is bound to, in its present submission or another
// one.
func IsRunOf(e *ledger.Entry, j *workload.Job) bool {
	plan, _ := api.PlanInComment(j.Comment)
	return j.ID == e.Job && j.User == e.User && (j.Submit == e.Progress.Submit || plan == e.ID)
}

// IsJobOf reports whether j is the job that e is bound to. j is either the submission that e
// knows, or another one by a requeue, which keeps the job's id and comment. That is a later one,
// unless slurmctld was killed before it had saved the requeue: it then goes on with the earlier
// submission, which is in the queue still, or has ended after the one that was forgotten.
func IsJobOf(e *ledger.Entry, j *workload.Job) bool {
	return IsRunOf(e, j) && (j.Submit >= e.Progress.Submit || j.End == 0 || j.End > e.Progress.Submit+Skew)
}
