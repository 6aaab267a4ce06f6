package keeper

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/live/course"
	"github.com/varq-project/varq/predictor/live/ledger"
	"github.com/varq-project/varq/predictor/slurm"
)

// bindClaimant binds e to j, the job that claims e's plan. If j is not the job that was promised,
// bindClaimant settles the reservation: nothing is promised about such a job.
func (k *Keeper) bindClaimant(ctx context.Context, e *ledger.Entry, j *slurm.QueueEntry, now int64) error {
	if k.memory.postponed(e.ID, now) {
		return nil
	}
	switch err := k.adopt(ctx, e, j); {
	case errors.Is(err, api.ErrConflict), errors.Is(err, api.ErrUnavailable):
		return nil // it is settled, or varqd cannot tell yet
	case err != nil:
		return err
	}
	if why := course.Unlike(e, &j.Job); why != "" {
		why = fmt.Sprintf("job %d, which names this plan, is not the job that was promised: %s", j.ID, why)
		return k.refuse(ctx, e, j, why)
	}
	err := k.bindQueued(ctx, e, j, now)
	switch {
	case errors.Is(err, ledger.ErrJobTaken):
		k.memory.postpone(e.ID, now)
		k.Log.Info("a job names a second plan", "plan", e.ID, "job", j.ID, "user", e.User)
		return nil
	case errors.Is(err, api.ErrConflict), errors.Is(err, api.ErrUnavailable):
		// it is settled, or varqd cannot tell yet
		return nil
	}
	return err
}

// noteStart records that a job has started and, from HoldUntil on, that its work has begun. It does
// nothing for a job that has ended and still has its nodes: only accounting knows whether its work
// had begun.
func (k *follower) noteStart(ctx context.Context, e *ledger.Entry, j *slurm.QueueEntry, now int64) error {
	if j.Completing {
		return nil
	}
	c := k.newChange(e, now)
	p := &c.Progress
	p.Interactive = j.Interactive
	switch {
	case j.Submit != p.Submit:
		c.Requeue(j)
	case p.Start == 0:
		c.ObserveEligible(j.Submit, j.Eligible)
	}
	if p.WorkStart == 0 {
		p.Eligible, p.Start, p.Held, p.Nodes = j.Eligible, j.Start, false, j.Nodes
	}
	p.State, p.Name = api.StateHolding, course.ShownName(j.Name)
	if p.WorkStart == 0 {
		c.ObserveSuspension(j)
	}
	switch begin, ok := course.WorkBegins(e, j); {
	case p.Gate == api.GateLost:
	case course.MayWork(e) && (p.WorkStart != 0 || ok && now >= begin):
		p.State, p.WorkStart = api.StateRunning, cmp.Or(p.WorkStart, begin)
	case !ok && p.WorkStart == 0 && now >= e.BeginBy+course.Skew && !p.Late:
		p.Late = true
		c.Event(ledger.Note, "its work has not begun by the deadline: %s", course.Stopper(course.Suspended))
	}
	if err := k.record(ctx, e, c); err != nil {
		return err
	}
	if likely, why := course.StartedInTime(e, p.Start); e.FinishBy == 0 && p.WorkStart == 0 && course.MayWork(e) && (likely > 0 || why != "") {
		k.warn(e, likely, why, 0)
	}
	return nil
}

// noteLate records that a job is still pending after its deadline. It cancels the job if OnMiss is
// OnMissCancel. It does not cancel a job in four cases: a task of its array has started; the job
// was requeued, so it had started before; somebody has changed the job; or somebody has held or
// moved it beyond its deadline, even if the hold is over now.
func (k *follower) noteLate(ctx context.Context, e *ledger.Entry, j *slurm.QueueEntry, now int64) error {
	c := k.newChange(e, now)
	c.Observe(j)
	c.ObserveEligible(j.Submit, j.Eligible)
	text, so := course.NotStarted, ", "+course.CancelledAsAsked
	// whether it was stopped when the deadline passed
	wasStopped := e.Progress.Late && (e.Progress.Stopped != "" || !strings.HasPrefix(e.Note, course.NotStarted))
	switch p := &c.Progress; {
	case p.Gate == api.GateLost: // followGroup cancels it, and its note says why
		p.Late = true
		return k.record(ctx, e, c)
	case p.Yielded:
	case p.Held:
		c.Yield("still held after the deadline")
	case j.Eligible > e.BeginBy && e.Dependency == "" && j.RestartCount == 0 && (e.Tentative == 0 || j.Eligible != e.SubmitBegin()):
		c.Yield("held or moved beyond the deadline")
	case !p.Late && course.SeenKept(e):
		p.Late = true
		c.Event(ledger.Note, "%s", course.RequeuedAfter)
	case !p.Late:
		p.Late = true
		switch why := k.memory.prospect(e.ID).obstacle.lasting(); {
		case p.Stopped != "":
			text += ": " + course.Stopper(p.Stopped)
		case why != "":
			text += ": " + why
		case p.HeldBefore > 0:
			text += ": " + course.PutBack
		case slurm.BeyondLimit(j.Reason):
			text += ": " + notStartedBySlurm + j.Reason
		default:
			if why := k.circumstances(e.Partition, j, now); why != "" {
				text += ": " + why
			}
		}
		c.Event(ledger.Note, "%s", text)
	case strings.HasPrefix(e.Note, course.NotStarted) && !strings.HasSuffix(e.Note, course.CancelledAsAsked):
		text = e.Note // the note says why
	}
	if text != course.NotStarted {
		so = "; " + course.CancelledAsAsked
	}
	if err := k.record(ctx, e, c); err != nil {
		return err
	}
	k.memory.dropForecast(e.ID)
	if k.Desk.Shadow || e.OnMiss != api.OnMissCancel || partlyStarted(e) || c.Progress.Yielded || c.Progress.Stopped != "" || wasStopped || j.RestartCount > 0 || k.memory.postponed(e.ID, now) {
		return nil
	}
	return k.cancelLate(ctx, e, c, text+so)
}

// circumstances describes what else kept a job from starting if no lasting obstacle did: nodes that
// could start no jobs, and Slurm's reason.
func (k *follower) circumstances(partition string, j *slurm.QueueEntry, now int64) string {
	var list []string
	if c := k.Desk.Premises.Limits(); c != nil {
		if unusable := c.Unusable(partition, now); unusable != "" {
			list = append(list, unusable)
		}
	}
	if reason, _, _ := strings.Cut(j.Reason, ","); !slices.Contains(noReason, reason) {
		list = append(list, "Slurm's reason was "+reason)
	}
	return strings.Join(list, "; ")
}

// noReason are Slurm's reasons for a job that waits for nothing, or whose wait Slurm has not
// explained yet.
var noReason = []string{"", "None", "BeginTime"}

// cancelLate cancels the job of e because it is late, and notes why.
func (k *reservations) cancelLate(ctx context.Context, e *ledger.Entry, c *course.Change, why string) error {
	if err := k.Slurm.Cancel(ctx, e.Job); err != nil && !errors.Is(err, slurm.ErrNotFound) {
		k.memory.postponeAfter(err, e.ID, k.Now())
		return fmt.Errorf("cancel at the deadline: %w", err)
	}
	c.Event(ledger.Note, "%s", why)
	return k.record(ctx, e, c)
}
