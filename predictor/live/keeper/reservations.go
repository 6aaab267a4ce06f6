package keeper

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/live/ledger"
	"github.com/varq-project/varq/predictor/slurm"
)

// recent is how long a settled reservation is listed without being asked for,
// from its deadline on, in seconds.
const recent = 86400

// bindTime bounds how long a user who binds a job waits for Slurm.
const bindTime = 1500 * time.Millisecond

// Bind ties a plan of user's to a job of hers, which must be in the queue.
func (k *Keeper) Bind(ctx context.Context, user string, b api.Binding) error {
	entries, err := k.Ledger.Select(ctx, ledger.Query{Plan: b.Plan, User: user})
	if err != nil {
		return err
	}
	if len(entries) == 0 {
		return api.Fault(api.ErrNotFound, "you have no such plan")
	}
	e := &entries[0]
	if e.Job == b.Job {
		return nil
	}
	asking, cancel := context.WithTimeout(ctx, bindTime)
	defer cancel()
	j, err := k.Slurm.Job(asking, b.Job)
	if errors.Is(err, slurm.ErrNotFound) || err == nil && j.User != user {
		return api.Fault(api.ErrForbidden, fmt.Sprintf("you have no job %d in the queue", b.Job))
	}
	if err == nil {
		err = k.lock(asking)
	}
	if err != nil {
		k.Log.Warn("bind: Slurm cannot be asked", "job", b.Job, "error", err)
		return api.Fault(api.ErrUnavailable, "Slurm cannot be asked now; varqd will find the job by its comment")
	}
	defer k.unlock()
	err = k.bind(ctx, e, &j.Job, k.Now())
	switch {
	case errors.Is(err, ledger.ErrBound), errors.Is(err, ledger.ErrJobTaken), errors.Is(err, ledger.ErrClosed):
		return api.Fault(api.ErrConflict, err.Error())
	case err != nil:
		return err
	}
	return nil
}

// Reservations lists reservations that user may see.
func (k *Keeper) Reservations(ctx context.Context, user string, q api.ReservationsQuery) ([]api.Reservation, error) {
	whose, err := k.whose(user, q.User, q.Job != 0)
	if err != nil {
		return nil, err
	}
	wanted := ledger.Query{User: whose, Job: q.Job}
	if !q.All && q.Job == 0 {
		wanted.OpenOrSince = k.Now() - recent
	}
	return k.list(ctx, wanted)
}

func (k *Keeper) list(ctx context.Context, q ledger.Query) ([]api.Reservation, error) {
	entries, err := k.Ledger.Select(ctx, q)
	if err != nil {
		return nil, err
	}
	list := make([]api.Reservation, len(entries))
	for i := range entries {
		list[i] = k.present(&entries[i])
	}
	return list, nil
}

// whose returns the user to select reservations by, "" for everybody: asker
// sees her own, and those of others only if Slurm lets her. With any, an asker
// who may see everybody's is not limited to her own by default.
func (k *Keeper) whose(asker, asked string, anyones bool) (string, error) {
	if asked == "" && anyones && k.seesAll(asker) {
		return "", nil
	}
	if asked == "" || asked == asker {
		return asker, nil
	}
	if !k.seesAll(asker) {
		return "", api.Fault(api.ErrForbidden, "only Slurm's operators may see the reservations of other users")
	}
	if asked == api.Everybody {
		return "", nil
	}
	return asked, nil
}

// present completes a reservation by what is forecast of it now.
func (k *Keeper) present(e *ledger.Entry) api.Reservation {
	r := e.Reservation
	switch {
	case r.State == api.StatePending:
		k.mu.Lock()
		r.Now = k.forecasts[e.ID]
		k.mu.Unlock()
	case r.State == api.StatePromised:
		r.Now = r.Estimate
	case r.Start != 0 && r.Start <= r.BeginBy:
		r.Now = 1
	}
	return r
}
