package records

import (
	"context"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/live/ledger"
)

// recent is how many seconds after its deadline a settled reservation is still listed by
// default.
const recent = 86400

// Reservations lists the reservations that q selects and user may see. It returns
// api.ErrForbidden if user may not see the reservations of the user that q names.
func (r *Records) Reservations(ctx context.Context, user string, q api.ReservationsQuery) ([]api.Reservation, error) {
	whose, err := r.whose(user, q.User, q.Job != 0)
	if err != nil {
		return nil, err
	}
	wanted := ledger.Query{User: whose, Job: q.Job, Before: q.Before, Last: api.MostPage, Selection: q.Selection}
	if !q.All && q.Job == 0 && q.Start == 0 && q.End == 0 {
		wanted.OpenOrSince = r.Now() - recent
	}
	list, err := r.list(ctx, wanted)
	if err != nil || q.Job == 0 {
		return list, err
	}
	for i := range list {
		events, err := r.Ledger.Events(ctx, list[i].ID)
		if err != nil {
			return nil, err
		}
		for _, event := range events {
			list[i].Events = append(list[i].Events, api.Event{At: event.At, Kind: string(event.Kind), Text: event.Text})
		}
	}
	return list, nil
}

func (r *Records) list(ctx context.Context, q ledger.Query) ([]api.Reservation, error) {
	entries, err := r.Ledger.Select(ctx, q)
	if err != nil {
		return nil, err
	}
	list := make([]api.Reservation, len(entries))
	for i := range entries {
		list[i] = r.Describe(&entries[i])
	}
	return list, nil
}

// whose returns the user whose reservations asker gets, or "" for all users. asked is the
// user that asker names, or "". A user who names nobody gets her own reservations; an
// operator gets those of all users if operatorGetsAll is true. Only operators may name
// another user.
func (r *Records) whose(asker, asked string, operatorGetsAll bool) (string, error) {
	if asked == "" && operatorGetsAll && r.Premises.Operator(asker) {
		return "", nil
	}
	if asked == "" || asked == asker {
		return asker, nil
	}
	if !r.Premises.Operator(asker) {
		if err := r.Premises.Known(); err != nil {
			return "", err
		}
		return "", api.Fault(api.ErrForbidden, "only Slurm's operators may see the reservations of other users")
	}
	if asked == api.Everybody {
		return "", nil
	}
	return asked, nil
}
