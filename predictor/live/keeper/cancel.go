package keeper

import (
	"context"
	"fmt"
	"sync"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/live/ledger"
	"github.com/varq-project/varq/predictor/slurm"
)

// latecomer is how many seconds after the end of the command that submits it a job may first
// appear in the queue. A command gives up when slurmctld does not answer in time, and
// slurmctld may accept the job nevertheless.
const latecomer = 10

// Cancel takes back user's plan that no job has taken up, or that is tentative and not confirmed: then its job is
// cancelled, too. It is called for a submission that
// has failed, or by the user. The plan is closed by the next Watch, unless the queue then shows
// a job of the plan. Taking back a plan that is closed changes nothing. An error that the user
// should read is a fault of package api.
func (k *Keeper) Cancel(ctx context.Context, user string, c api.Cancellation) error {
	e, err := k.planOf(ctx, user, c.Plan)
	if err != nil {
		return err
	}
	if unconfirmed(e) && e.Open {
		return k.withdrawTentative(ctx, user, e)
	}
	switch {
	case e.Progress.Confirmed != 0:
		return errConfirmed(e)
	case e.Open && e.Job != 0:
		return api.Fault(api.ErrConflict, fmt.Sprintf("job %d has taken up the plan: cancel the job, with scancel %d", e.Job, e.Job))
	case e.Open:
		k.withdrawn.add(e.ID, k.Now())
	}
	return nil
}

// settleWithdrawn closes a plan that was taken back, once the queue would show its job if there
// were one.
func (k *Keeper) settleWithdrawn(ctx context.Context, e *ledger.Entry, _ *slurm.QueueEntry, now int64) error {
	if !k.withdrawn.before(e.ID, now-latecomer) {
		return nil
	}
	if err := k.settle(ctx, e, ledger.Settlement{At: now, Outcome: api.StateCancelled}, "taken back: no job was submitted"); err != nil {
		return err
	}
	k.withdrawn.forget(e.ID)
	return nil
}

// forgotten is after how many seconds a plan taken back is no longer remembered. It is far longer
// than Watch needs to close it.
const forgotten = 86400

// withdrawn has the plans taken back, with the times. A crash loses it; then the plans close
// as plans without a job do.
type withdrawn struct {
	mu    sync.Mutex
	since map[string]int64
	// confirming is the plan that Confirm is about to confirm, which cannot be taken back meanwhile.
	confirming string
}

// add reports whether the plan is taken back now.
func (w *withdrawn) add(plan string, now int64) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.confirming == plan {
		return false
	}
	if w.since == nil {
		w.since = map[string]int64{}
	}
	for other, since := range w.since { // those that a job has taken up after all
		if since < now-forgotten {
			delete(w.since, other)
		}
	}
	if _, again := w.since[plan]; !again {
		w.since[plan] = now
	}
	return true
}

// confirm keeps the plan from being taken back until done is called, unless it was. One plan is confirmed at a time.
func (w *withdrawn) confirm(plan string) (done func(), ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, gone := w.since[plan]; gone {
		return nil, false
	}
	w.confirming = plan
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.confirming = ""
	}, true
}

// has reports whether the plan was taken back.
func (w *withdrawn) has(plan string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, ok := w.since[plan]
	return ok
}

// before reports whether the plan was taken back before the time t.
func (w *withdrawn) before(plan string, t int64) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	since, ok := w.since[plan]
	return ok && since < t
}

func (w *withdrawn) forget(plan string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.since, plan)
}
