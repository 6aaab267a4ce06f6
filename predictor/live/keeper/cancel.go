package keeper

import (
	"context"
	"errors"
	"fmt"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/live/desk"
	"github.com/varq-project/varq/predictor/live/ledger"
	"github.com/varq-project/varq/predictor/slurm"
)

// Cancel takes back user's plan if no job has taken it up, or if it is tentative and not confirmed.
// In the second case its job is cancelled, too. Cancel is called after a failed submission, or by
// the user.
//
// From then on the plan claims nothing, and others may be promised what its job needs. The next
// Watch closes the plan, unless the queue then shows a job of the plan for which there is still
// room: see bindLapsed. A tentative promise cannot be confirmed any more. Taking back a closed plan
// changes nothing. The errors that the user should read are faults of package api.
func (k *Keeper) Cancel(ctx context.Context, user string, c api.Cancellation) error {
	e, err := k.planOf(ctx, user, c.Plan)
	if err != nil {
		return err
	}
	now := k.Now()
	withdrawn := ledger.ErrTaken
	if e.Open && e.Progress.Confirmed == 0 {
		if withdrawn = k.Ledger.Withdraw(ctx, e.ID, now); withdrawn != nil && !errors.Is(withdrawn, ledger.ErrTaken) {
			k.Log.Error("a plan could not be taken back", "plan", e.ID, "error", withdrawn)
			return api.Fault(api.ErrUnavailable, "that the plan is taken back could not be written down; try again")
		}
		if e, err = k.planOf(ctx, user, c.Plan); err != nil {
			return err
		}
	}
	switch {
	case e.Progress.Confirmed != 0:
		return errConfirmed(e)
	case withdrawn != nil && e.Open:
		return api.Fault(api.ErrConflict, fmt.Sprintf("job %d has taken up the plan: cancel the job, with scancel %d", e.Job, e.Job))
	case e.Open && e.Job != 0:
		k.withdrawNow(ctx, e, now)
	}
	return nil
}

// settleWithdrawn closes a plan that was taken back, once so much time has passed that the queue
// would show its job if there were one.
func (k *settler) settleWithdrawn(ctx context.Context, e *ledger.Entry, _ *slurm.QueueEntry, now int64) error {
	if e.Withdrawn == 0 || e.Withdrawn >= now-desk.Latecomer {
		return nil
	}
	return k.settle(ctx, e, ledger.Settlement{At: now, Outcome: api.StateCancelled}, "taken back: no job of it was seen")
}
