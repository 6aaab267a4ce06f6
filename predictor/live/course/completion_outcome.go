package course

import (
	"fmt"
	"strings"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/live/ledger"
	"github.com/varq-project/varq/predictor/workload"
)

// judgeCompletion judges a promise about the end of a job by the job's last run, which has ended.
// why tells the user the reason. It is empty for a job that was completed in time.
func judgeCompletion(e *ledger.Entry, run *workload.Job, now int64) (s ledger.Settlement, why string) {
	s = ledger.Settlement{At: now, Eligible: run.Eligible, Start: run.Start, WorkStart: run.Start, End: run.End, Run: run.Submit, Evicted: run.Evicted}
	if run.Start != 0 {
		s.Nodes = run.Nodes
	}
	s.Outcome, why = completionOutcome(e, run)
	return s, why
}

// completionOutcome returns the outcome and the reason for judgeCompletion:
//
//   - Kept: the job ended by itself, by FinishBy, whatever its exit code.
//   - Cancelled: the job was cancelled, or stopped at its time limit, by FinishBy and before its
//     work was done. Or it ended later, and before the deadline the user had held it, or somebody
//     had changed it.
//   - Missed: in all other cases.
func completionOutcome(e *ledger.Entry, run *workload.Job) (outcome, why string) {
	p := &e.Progress
	late := run.End - e.FinishBy
	inTime := late <= 0
	switch {
	case inTime && run.State == workload.Completed && strings.HasPrefix(e.Note, endangered):
		return api.StateKept, "ended in time after all"
	case inTime && run.State == workload.Completed:
		return api.StateKept, ""
	case inTime && run.State == workload.Failed && run.Start != 0 && !run.Evicted:
		return api.StateKept, fmt.Sprintf("ended by itself, by the deadline, but as %s", run.State)
	case inTime && run.State == workload.TimedOut:
		return api.StateCancelled, "stopped at its time limit before its work was done"
	case run.Unfulfilled && !p.Yielded:
		return api.StateMissed, NeverStarts
	case inTime && run.Expired:
		return api.StateCancelled, expired
	case inTime && run.State == workload.Cancelled && (e.Tasks == 0 || !p.Late):
		return api.StateCancelled, "cancelled before the deadline"
	case p.Yielded && !p.Late:
		return api.StateCancelled, "not finished in time after the user had changed the job"
	case p.Held && !p.Late:
		return api.StateCancelled, "not finished in time because the user held it"
	case strings.HasSuffix(e.Note, CancelledAsAsked):
		return api.StateMissed, e.Note
	case run.Evicted:
		return api.StateMissed, "its nodes failed or were taken away before its work was done"
	case p.Stopped != "":
		return api.StateMissed, NotFinished + ": " + Stopper(p.Stopped)
	case run.Start == 0:
		return api.StateMissed, NotStarted
	default:
		return api.StateMissed, fmt.Sprintf("ended (%s) %d s after the deadline", run.State, late)
	}
}
