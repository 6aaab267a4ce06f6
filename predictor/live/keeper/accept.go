package keeper

import (
	"context"
	"fmt"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/live/ledger"
	"github.com/varq-project/varq/predictor/promise/trajectory"
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

// Accept raises the ceiling on the cost of idle nodes of user's reservation, to what would keep
// its promise now. If that costs more than a.Worst, the costs as the user has been shown them,
// Accept changes nothing. It returns the reservation as it is then. The errors are faults of
// package api.
func (k *Keeper) Accept(ctx context.Context, user string, a api.Acceptance) (api.Reservation, error) {
	var none api.Reservation
	if k.Shadow {
		return none, api.Fault(api.ErrConflict, onlyWatches)
	}
	if err := k.lock(ctx); err != nil {
		return none, err
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
	err = k.withinCost(ctx, e, worst, func() error {
		c := k.newChange(e, k.Now())
		c.progress.Earliest = offer.earliest
		c.event(ledger.Agreed, "%s agreed that idle nodes cost up to %s", user, worst.RoundedUp())
		return k.record(ctx, e, c)
	})
	if err != nil {
		return none, err
	}
	k.memory.setRescue(e.ID, nil)
	return k.reservation(e), nil
}
