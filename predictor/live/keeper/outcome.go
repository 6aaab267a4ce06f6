package keeper

import (
	"fmt"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/live/ledger"
	"github.com/varq-project/varq/predictor/workload"
)

// lateAndCancelled is the note of a job cancelled by --on-miss=cancel.
const lateAndCancelled = "not started by the deadline, so cancelled, as asked for"

// outcome judges a promise by the last run of its job. It is kept if the job starts in
// time as it was planned, and missed if it does not. Where the user has cancelled the
// job, or changed it and it did not start in time, there is nothing to judge. Why says
// so to the user, and is empty for a promise that was plainly kept.
func outcome(e *ledger.Entry, run *workload.Job, now int64) (s ledger.Settlement, why string) {
	s = ledger.Settlement{At: now, Eligible: run.Eligible, Start: run.Start, End: run.End}
	if p := &e.Progress; p.WorkStart != 0 && p.Start <= e.BeginBy && p.Start != run.Start {
		s.Outcome, s.Eligible, s.Start, s.WorkStart = api.StateKept, p.Eligible, p.Start, p.WorkStart
		return s, "requeued after its work had begun in time"
	}
	if run.Start != 0 && run.End >= workStart(e, run.Start) {
		s.WorkStart = workStart(e, run.Start)
	}
	switch {
	case s.WorkStart != 0 && run.Start <= e.BeginBy:
		s.Outcome = api.StateKept
	case run.State == workload.Cancelled && run.End < e.BeginBy:
		s.Outcome, why = api.StateCancelled, "cancelled before the deadline"
	case e.Progress.Yielded:
		s.Outcome, why = api.StateCancelled, "not started in time after the user had changed the job"
	case e.Progress.Held:
		s.Outcome, why = api.StateCancelled, "not started in time because the user held it"
	case run.Start == 0 && run.State == workload.Cancelled && e.OnMiss == api.OnMissCancel:
		s.Outcome, why = api.StateMissed, lateAndCancelled
	case run.Start == 0:
		s.Outcome, why = api.StateMissed, "not started by the deadline"
	case run.Start > e.BeginBy:
		s.Outcome, why = api.StateMissed, fmt.Sprintf("started %d s after the deadline", run.Start-e.BeginBy)
	default:
		s.Outcome, why = api.StateMissed, fmt.Sprintf("ended (%s) before its work could begin", run.State)
	}
	return s, why
}
