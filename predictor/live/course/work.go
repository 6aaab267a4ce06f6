package course

import (
	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/live/ledger"
	"github.com/varq-project/varq/predictor/slurm"
)

// WorkStart returns when the work of e's job begins if the job starts at start, and is not
// suspended then.
func WorkStart(e *ledger.Entry, start int64) int64 { return max(start, e.HoldUntil, e.Progress.Gated) }

// WorkBegins returns when the work of e's job, which has started, begins or has begun. While the
// job is suspended, varq-wrapper cannot begin the work. WorkBegins reports false if the job is
// suspended and was suspended before the work began. Slurm reports whole seconds. If a job was
// suspended in the second in which its work begins, the work has begun, because varq-wrapper needs
// only a fraction of the second.
func WorkBegins(e *ledger.Entry, j *slurm.QueueEntry) (at int64, ok bool) {
	at = WorkStart(e, j.Start)
	switch {
	case j.Suspended && j.SuspendTime < at:
		return 0, false
	case !j.Suspended && j.SuspendTime > at && j.Start+j.RanBefore < at: // it has been resumed
		at = j.SuspendTime
	}
	return at, true
}

// Suspended is the value of Progress.Stopped for a job that is suspended.
const Suspended = "suspended"

// ObserveSuspension records whether a job whose work has not begun is suspended.
func (c *Change) ObserveSuspension(j *slurm.QueueEntry) {
	p := &c.Progress
	switch {
	case j.Suspended && p.Stopped != Suspended:
		p.Stopped = Suspended
		c.Event(ledger.Note, "%s", Stopper(Suspended))
	case !j.Suspended && p.Stopped == Suspended:
		p.Stopped = ""
		c.Event(ledger.Note, "resumed")
	}
}

// MayWork reports whether the work of e's job may begin. The work of a group's member may begin
// when the group's home has said so.
func MayWork(e *ledger.Entry) bool { return e.Group == "" || e.Progress.Gate == api.GateGo }

// NotConfirmed is the reason why a tentative promise has ended.
const NotConfirmed = "not confirmed in time"

// StartedInTime returns the present probability that e's promise of a start is kept. e's job has
// started. obstacle is what stands against it: a job that is suspended while it holds begins its
// work only when somebody resumes it.
func StartedInTime(e *ledger.Entry, start int64) (now float64, obstacle string) {
	switch p := &e.Progress; {
	case p.Late || start > e.BeginBy:
		return 0, ""
	case e.Open && p.Stopped == Suspended && p.WorkStart == 0:
		return 0, Stopper(Suspended)
	}
	return 1, ""
}
