package keeper

import (
	"cmp"
	"context"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/live/ledger"
)

// recent is how many seconds after its deadline a settled reservation is still listed by
// default.
const recent = 86400

// Reservations lists the reservations that q selects and user may see. It returns
// api.ErrForbidden if user may not see the reservations of the user that q names.
func (k *Keeper) Reservations(ctx context.Context, user string, q api.ReservationsQuery) ([]api.Reservation, error) {
	whose, err := k.whose(user, q.User, q.Job != 0)
	if err != nil {
		return nil, err
	}
	wanted := ledger.Query{User: whose, Job: q.Job, Before: q.Before, Last: api.MostPage, Selection: q.Selection}
	if !q.All && q.Job == 0 && q.Start == 0 && q.End == 0 {
		wanted.OpenOrSince = k.Now() - recent
	}
	list, err := k.list(ctx, wanted)
	if err != nil || q.Job == 0 {
		return list, err
	}
	for i := range list {
		events, err := k.Ledger.Events(ctx, list[i].ID)
		if err != nil {
			return nil, err
		}
		for _, event := range events {
			list[i].Events = append(list[i].Events, api.Event{At: event.At, Kind: string(event.Kind), Text: event.Text})
		}
	}
	return list, nil
}

func (k *Keeper) list(ctx context.Context, q ledger.Query) ([]api.Reservation, error) {
	entries, err := k.Ledger.Select(ctx, q)
	if err != nil {
		return nil, err
	}
	list := make([]api.Reservation, len(entries))
	for i := range entries {
		list[i] = k.reservation(&entries[i])
	}
	return list, nil
}

// whose returns the user whose reservations asker gets, or "" for all users. asked is the
// user that asker names, or "". A user who names nobody gets her own reservations; an
// operator gets those of all users if operatorGetsAll is true. Only operators may name
// another user.
func (k *Keeper) whose(asker, asked string, operatorGetsAll bool) (string, error) {
	if asked == "" && operatorGetsAll && k.Desk.Premises.Operator(asker) {
		return "", nil
	}
	if asked == "" || asked == asker {
		return asker, nil
	}
	if !k.Desk.Premises.Operator(asker) {
		if err := k.Desk.Premises.Known(); err != nil {
			return "", err
		}
		return "", api.Fault(api.ErrForbidden, "only Slurm's operators may see the reservations of other users")
	}
	if asked == api.Everybody {
		return "", nil
	}
	return asked, nil
}

// reservation returns e's reservation, with Now set to the present probability that the promise is kept.
func (k *Keeper) reservation(e *ledger.Entry) api.Reservation {
	r := e.Reservation
	r.Job, r.TakenBack = cmp.Or(r.Job, e.Refused), e.Open && e.Withdrawn != 0
	r.Set = api.Setting{BeginTime: e.Progress.BeginTime, TimeLimit: e.Progress.TimeLimit}
	if r.Yielded = e.Progress.Yielded; r.Yielded {
		r.Size = asked(r.Size, e.Progress.Asks)
	}
	r.HeldBefore, r.WorkedBefore = e.Progress.HeldBefore, e.Progress.WorkedBefore
	r.Ceiling = e.Idle(e.Progress.Earliest)
	if r.Group != "" && r.HoldUntil != 0 { // of the kind api.GroupAll, whose jobs also wait for one another
		grace := e.Idle(e.HoldUntil - api.GroupGrace)
		r.Ceiling.NodeSeconds += grace.NodeSeconds
		r.Ceiling.BillingSeconds += grace.BillingSeconds
	}
	prospect := k.memory.prospect(e.ID)
	if offer := prospect.rescue; offer != nil && r.State == api.StatePending {
		r.Rescue = &api.Rescue{Prob: offer.prob, Worst: e.Idle(offer.earliest)}
	}
	switch {
	case r.FinishBy != 0 && e.Open && e.Job != 0:
		r.Now, r.Obstacle, r.Later = prospect.prob, prospect.obstacle.says, prospect.later
	case r.State == api.StatePending:
		r.Now, r.Obstacle = prospect.prob, prospect.obstacle.says
	case r.State == api.StatePromised:
		r.Now = r.Estimate
	case r.Start != 0:
		r.Now, r.Obstacle = startedInTime(e, r.Start)
	}
	return r
}

// startedInTime returns the present probability that the promise of a start about e is kept, whose job has started, and what is against it: a job
// that is suspended while it holds begins its work when somebody resumes it.
func startedInTime(e *ledger.Entry, start int64) (now float64, obstacle string) {
	switch p := &e.Progress; {
	case p.Late || start > e.BeginBy:
		return 0, ""
	case e.Open && p.Stopped == suspended && p.WorkStart == 0:
		return 0, stopper(suspended)
	}
	return 1, ""
}
