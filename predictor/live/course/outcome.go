package course

import (
	"fmt"
	"strings"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/live/ledger"
	"github.com/varq-project/varq/predictor/slurmtime"
	"github.com/varq-project/varq/predictor/workload"
)

// NeverStarts is the note of a job that waits for what cannot come true any more.
const NeverStarts = "it never starts: the jobs that it waits for did not end as it needs"

// CancelledAsAsked ends the note of a job that was cancelled because of --on-miss=cancel.
const CancelledAsAsked = "so cancelled, as asked for"

// expired is the note of a job that Slurm ended because of the job's own --deadline.
const expired = "ended by Slurm, since it could not end by its own --deadline any more"

// NotStarted begins the note of a job that is pending after its deadline.
const NotStarted = "not started by the deadline"

// PutBack is the reason if a job was requeued before its deadline.
const PutBack = "it had been put back into the queue before its work could begin"

// RequeuedAfter is the note of a job that was requeued after its promise had been kept.
const RequeuedAfter = "requeued after its work had begun in time"

// suspendedThen is the note of a job that did not begin its work because it was suspended.
var suspendedThen = Stopper(Suspended) + ", when its work was to begin"

// NotFinished begins the note of a job that has not ended by its deadline.
const NotFinished = "not finished by the deadline"

// Ended reports whether accounting knows how a run of e's job ended. After an outage slurmdbd may
// report for a while, or for ever, that a job is COMPLETED but has no end or no start. Such an end
// does not count as known. But the start is not needed if the queue has shown that the promise was
// kept.
func Ended(e *ledger.Entry, run *workload.Job) bool {
	switch {
	case !run.State.Finished() || run.State == workload.Requeued || run.End == 0:
		return false
	case run.State == workload.Completed || run.State == workload.TimedOut:
		return run.Start != 0 || SeenKept(e)
	}
	return true
}

// workBegan returns when the work of a run of e's job began, or 0 if it did not. Only the queue
// shows when a job was suspended.
func workBegan(e *ledger.Entry, run *workload.Job) int64 {
	at := WorkStart(e, run.Start)
	if p := &e.Progress; run.Start != 0 && p.Start == run.Start {
		if p.WorkStart == 0 && p.Stopped == Suspended {
			return 0
		}
		at = max(at, p.WorkStart)
	}
	if run.Start == 0 || run.End < at || !MayWork(e) {
		return 0
	}
	return at
}

// KeptBy reports whether a run of e's job kept the promise: its work began in time. The run may
// have been requeued since.
func KeptBy(e *ledger.Entry, run *workload.Job) bool {
	began := workBegan(e, run)
	return IsRunOf(e, run) && began != 0 && began <= e.BeginBy
}

// NoteKept records in p the run that kept e's promise.
func NoteKept(e *ledger.Entry, p *ledger.Progress, run *workload.Job) {
	p.Eligible, p.Start, p.WorkStart, p.Nodes = run.Eligible, run.Start, workBegan(e, run), run.Nodes
}

// NeverAccepted reports whether Slurm refused the submission that a run stands for. Accounting has
// such a submission as a run that failed when it was submitted. It has no start, or (22.05) a start
// before it was eligible.
func NeverAccepted(run *workload.Job) bool {
	return run.State == workload.Failed && run.End <= run.Submit && (run.Start == 0 || run.Start < run.Eligible)
}

// Judge judges a promise by the last run of its job, which has ended.
//
//   - Kept: the job started by BeginBy, lasted until its work began, and was not suspended at that
//     time until after BeginBy. Accounting or the queue has shown this. A later requeue changes
//     nothing.
//   - Cancelled, in one of these cases: The promise was not confirmed, so that nothing was
//     promised. Another job of its group ran instead, before this job had missed its deadline. The
//     job was cancelled before BeginBy, perhaps by Slurm because of the job's own --deadline. The
//     user ended the job's srun or salloc before the work could begin. The promise was not kept,
//     and the user had held the job, or somebody had changed it. A hold or a change after the queue
//     has shown the job to be late is not an excuse.
//   - Missed: in all other cases, as if Slurm cancelled the job since what it waited for could not
//     come true any more.
//
// why tells the user the reason. It is empty for a promise that was kept without a requeue.
func Judge(e *ledger.Entry, run *workload.Job, now int64) (s ledger.Settlement, why string) {
	if e.FinishBy != 0 {
		return judgeCompletion(e, run, now)
	}
	s = ledger.Settlement{At: now, Eligible: run.Eligible, Start: run.Start, End: run.End, Run: run.Submit, Evicted: run.Evicted}
	if run.Start != 0 {
		s.Nodes = run.Nodes
	}
	if e.Unconfirmed() {
		s.Outcome = api.StateCancelled
		return s, NotConfirmed
	}
	if e.Progress.Gate == api.GateLost {
		s.Outcome = api.StateCancelled
		switch p := &e.Progress; {
		case p.Late && p.Stopped == Suspended && p.Start == run.Start:
			s.Outcome, why = api.StateMissed, suspendedThen
		case p.Late, (run.Start == 0 || run.Start > e.BeginBy) && run.End > e.BeginBy+Skew:
			s.Outcome = api.StateMissed
		}
		return s, why // if why is empty, the note says why
	}
	if p := &e.Progress; SeenKept(e) {
		if run.Start != 0 && p.Start != run.Start && e.Tasks == 0 {
			s.Nodes = p.Nodes
			why = RequeuedAfter
		}
		s.Outcome, s.Eligible, s.Start, s.WorkStart = api.StateKept, p.Eligible, p.Start, p.WorkStart
		return s, why
	}
	s.WorkStart = workBegan(e, run)
	switch {
	case s.WorkStart != 0 && s.WorkStart <= e.BeginBy:
		s.Outcome = api.StateKept
	case run.Unfulfilled && !e.Progress.Yielded:
		s.Outcome, why = api.StateMissed, NeverStarts
	case run.Expired && run.End < e.BeginBy && !e.Progress.Late:
		s.Outcome, why = api.StateCancelled, expired
	case run.State == workload.Cancelled && run.End < e.BeginBy && !e.Progress.Late:
		// Slurm reports that a suspended job ended when it was suspended
		s.Outcome, why = api.StateCancelled, "cancelled before the deadline"
	case s.WorkStart == 0 && endedByUser(e, run):
		s.Outcome, why = api.StateCancelled, "ended by its user before its work could begin"
	case e.Progress.Yielded && run.Start != 0 && run.Start <= e.BeginBy:
		s.Outcome, why = api.StateCancelled, fmt.Sprintf("changed by the user, and ended (%s) before its work could begin", run.State)
	case s.WorkStart == 0 && run.State == workload.TimedOut && run.Limit < min(e.Progress.TimeLimit, e.Progress.WasLimit):
		s.Outcome, why = api.StateCancelled, fmt.Sprintf("ended (TIMEOUT) before its work could begin: its time limit was changed to %s, not by varq", slurmtime.FormatDuration(run.Limit))
	case e.Progress.Yielded && !e.Progress.Late:
		s.Outcome, why = api.StateCancelled, "not started in time after the user had changed the job"
	case e.Progress.Held && !e.Progress.Late:
		s.Outcome, why = api.StateCancelled, "not started in time because the user held it"
	case run.Start == 0 && e.Progress.Stopped != "":
		s.Outcome, why = api.StateMissed, NotStarted+": "+Stopper(e.Progress.Stopped)
	case run.Expired:
		s.Outcome, why = api.StateMissed, NotStarted+", and "+expired
	case run.Start == 0 && run.State == workload.Cancelled && e.OnMiss == api.OnMissCancel && !strings.HasSuffix(e.Note, CancelledAsAsked):
		s.Outcome, why = api.StateMissed, NotStarted+", "+CancelledAsAsked
	case run.Start == 0 && strings.HasPrefix(e.Note, NotStarted):
		s.Outcome, why = api.StateMissed, e.Note // which says why
	case run.Start == 0:
		s.Outcome, why = api.StateMissed, NotStarted
	case run.Start > e.BeginBy:
		s.Outcome, why = api.StateMissed, fmt.Sprintf("started %d s after the deadline", run.Start-e.BeginBy)
		if said, ok := strings.CutPrefix(e.Note, NotStarted+": "); ok {
			why += ": " + said
		} else if e.Progress.HeldBefore > 0 {
			why += "; " + PutBack
		}
	case s.WorkStart != 0 && e.Progress.Gated > e.BeginBy:
		s.Outcome, why = api.StateMissed, fmt.Sprintf("its group let the work begin %d s after the deadline", e.Progress.Gated-e.BeginBy)
	case s.WorkStart != 0:
		s.Outcome, why = api.StateMissed, fmt.Sprintf("%s, and resumed %d s after the deadline", Stopper(Suspended), s.WorkStart-e.BeginBy)
	case e.Progress.Stopped == Suspended && e.Progress.Start == run.Start:
		s.Outcome, why = api.StateMissed, suspendedThen
	case run.Evicted:
		s.Outcome, why = api.StateMissed, "its nodes failed or were taken away before its work could begin"
	default:
		s.Outcome, why = api.StateMissed, fmt.Sprintf("ended (%s) before its work could begin", run.State)
	}
	return s, why
}

// JudgeLost judges a promise whose job ended unknown to accounting. It judges by what the queue has
// shown of the job. why is empty if the queue has shown neither that the promise was kept nor that
// it was missed.
func JudgeLost(e *ledger.Entry, now int64) (s ledger.Settlement, why string) {
	p := &e.Progress
	s = ledger.Settlement{At: now, Outcome: api.StateCancelled, Eligible: p.Eligible, Start: p.Start, WorkStart: p.WorkStart, Nodes: p.Nodes}
	switch {
	case p.Gate == api.GateLost && !p.Late:
		why = e.Note
	case e.FinishBy != 0 && p.Late:
		s.Outcome, why = api.StateMissed, NotFinished+", and accounting knows of no end"
	case e.FinishBy != 0:
	case SeenKept(e):
		s.Outcome, why = api.StateKept, "its work began in time, but accounting knows of no end"
	case p.Late, p.Start > e.BeginBy && !p.Yielded:
		s.Outcome, why = api.StateMissed, "not started by the deadline, and accounting knows of no end"
	case p.WorkStart > e.BeginBy && p.Gated > e.BeginBy:
		s.Outcome, why = api.StateMissed, "its group let the work begin after the deadline, and accounting knows of no end"
	case p.WorkStart > e.BeginBy && !p.Yielded:
		s.Outcome, why = api.StateMissed, Stopper(Suspended)+" beyond the deadline, and accounting knows of no end"
	}
	return s, why
}

// endedByUser reports whether the user has ended the srun or salloc of a job that had started in
// time. Slurm then says that the job is completed. Or it says that the job has failed, with the
// exit code of the command that she has interrupted.
func endedByUser(e *ledger.Entry, run *workload.Job) bool {
	return e.Progress.Interactive && run.Start != 0 && run.Start <= e.BeginBy && !run.Evicted &&
		(run.State == workload.Completed || run.State == workload.Failed)
}

// SeenKept reports whether the queue has shown that the promise was kept.
func SeenKept(e *ledger.Entry) bool {
	p := &e.Progress
	return p.WorkStart != 0 && p.WorkStart <= e.BeginBy
}
