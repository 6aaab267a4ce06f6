package keeper

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/live/ledger"
	"github.com/varq-project/varq/predictor/prob"
	"github.com/varq-project/varq/predictor/promise/trajectory"
	"github.com/varq-project/varq/predictor/slurm"
)

// rescue is what would keep an endangered promise: to let the nodes idle for longer than the
// user has agreed to.
type rescue struct {
	earliest int64   // the ceiling that is needed, as in trajectory.Request
	prob     float64 // the forecast with it
}

// offerRescue notes what would keep e's promise if the revised plan does not.
func (k *Keeper) offerRescue(planner *trajectory.Planner, r *trajectory.Request, e *ledger.Entry, revised trajectory.Revision) {
	if to, ok := planner.Rescue(*r, revised); ok {
		k.memory.setRescue(e.ID, &rescue{to.Begin, to.Prob})
	} else {
		k.memory.setRescue(e.ID, nil)
	}
}

// How long Accept may take: until it has the lock, and then to move the job.
const (
	acceptWaits = 5 * time.Second
	acceptMoves = 10 * time.Second
)

// Accept raises the ceiling on the cost of idle nodes of user's reservation, to what would keep
// its promise now, and moves the job. If that costs more than a.Worst, the costs as the user has
// been shown them, Accept changes nothing. The errors are faults of package api.
func (k *Keeper) Accept(ctx context.Context, user string, a api.Acceptance) (api.Accepted, error) {
	var none api.Accepted
	if k.Shadow {
		return none, api.Fault(api.ErrConflict, onlyWatches)
	}
	waiting, cancel := context.WithTimeout(ctx, acceptWaits)
	defer cancel()
	if err := k.lock(waiting); err != nil {
		return none, api.Fault(api.ErrUnavailable, "varqd is busy with other reservations; nothing is changed, try again")
	}
	defer k.unlock()
	entries, err := k.Ledger.Select(ctx, ledger.Query{User: user, Job: a.Job, Open: true})
	if err != nil {
		return none, err
	}
	if len(entries) == 0 {
		return none, api.Fault(api.ErrNotFound, fmt.Sprintf("you have no open reservation for job %d", a.Job))
	}
	e := &entries[0]
	offer, ok := k.memory.rescue(e.ID)
	if !ok {
		return none, api.Fault(api.ErrConflict, fmt.Sprintf("job %d needs no more than you have agreed to, or more would not help; nothing is changed", a.Job))
	}
	worst := e.Idle(offer.earliest)
	if a.Worst.NodeSeconds > 0 && worst.NodeSeconds > a.Worst.NodeSeconds {
		return none, api.Fault(api.ErrConflict, fmt.Sprintf("by now it would take up to %s, more than you accept; nothing is changed", worst.RoundedUp()))
	}
	now := k.Now()
	err = k.withinCost(ctx, e, worst, func() error {
		c := k.newChange(e, now)
		c.progress.Earliest = offer.earliest
		c.event(ledger.Agreed, "%s agreed that idle nodes cost up to %s", user, worst.RoundedUp())
		return k.record(ctx, e, c)
	})
	if err != nil {
		return none, err
	}
	k.memory.setRescue(e.ID, nil)
	err = k.reviseNow(ctx, e, now)
	p := &e.Progress // the values before the change are forgotten only when the queue has shown it
	accepted := api.Accepted{Reservation: k.reservation(e), Moved: err == nil && (p.BeginTime != p.WasBegin || p.TimeLimit != p.WasLimit)}
	if !accepted.Moved {
		accepted.Unmoved = k.unmoved(e, err, now)
	}
	return accepted, nil
}

// reviseNow is revise with the job as it is now, without waiting for Watch. It goes on though ctx is
// done, so that a user who does not wait for the answer does not interrupt it.
func (k *Keeper) reviseNow(ctx context.Context, e *ledger.Entry, now int64) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), acceptMoves)
	defer cancel()
	j, err := k.Slurm.Job(ctx, e.Job)
	switch {
	case err != nil:
		return err
	case !isJobOf(e, &j.Job), j.Start != 0:
		return slurm.ErrNotFound
	}
	k.memory.retryNow(e.ID)
	k.memory.changeNow(e.ID, now)
	return k.revise(ctx, e, &j, now)
}

// unmoved tells the user why reviseNow, which has returned err, has not moved the job of e, and when
// varqd will.
func (k *Keeper) unmoved(e *ledger.Entry, err error, now int64) string {
	p, ready := &e.Progress, k.Ready()
	switch {
	case errors.Is(err, slurm.ErrNotFound):
		return "the job does not wait in the queue any more"
	case p.Held, p.Stopped != "":
		return "the job is held; varqd moves it once it is released"
	case p.Yielded:
		return "somebody has changed the job, so varqd leaves it alone"
	case err == nil && k.memory.forecast(e.ID) >= e.Prob:
		return fmt.Sprintf("by now it would start in time with probability %s without being moved", prob.Format(k.memory.forecast(e.ID)))
	case k.memory.limitsFixed(now):
		return "Slurm does not let varqd change time limits; ask your administrator to run varq doctor"
	case errors.Is(err, slurm.ErrUnavailable), errors.Is(err, context.DeadlineExceeded):
		return "Slurm does not answer now; varqd tries again within a minute"
	case err != nil:
		k.Log.Error("accept", "plan", e.ID, "job", e.Job, "error", err)
		return "Slurm has refused the change; varqd tries again in a minute"
	case ready != nil:
		return ready.Error() + "; varqd moves the job as soon as it can"
	default:
		return "the queue has changed just now; varqd looks again within some seconds"
	}
}
