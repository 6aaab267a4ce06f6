package keeper

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/live/course"
	"github.com/varq-project/varq/predictor/live/ledger"
	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/slurmtime"
)

// adopt makes e's promise one about j if a plugin of the site has given the job another partition,
// account, QOS or set of nodes than it was promised for, and the promise holds there, too. It does
// nothing if the job is as it was promised. If the promise does not hold, or the plugin has changed
// what it rests on, such as the time limit, adopt settles the reservation, sees to it that the job
// holds no nodes, and returns an api.ErrConflict. While this cannot be decided, it returns an
// api.ErrUnavailable.
func (k *Keeper) adopt(ctx context.Context, e *ledger.Entry, j *slurm.QueueEntry) error {
	if e.Job != 0 {
		return nil
	}
	elsewhere := course.Elsewhere(e, &j.Job)
	if k.alters() {
		takes := k.Desk.Premises.Limits().Takes()
		var why string
		if elsewhere == "" {
			why = cmp.Or(course.Unlike(e, &j.Job), course.Altered(e, j, takes))
			elsewhere = course.OnFewer(e, &j.Job)
		} else if j.Start == 0 {
			why = cmp.Or(course.Kept(e, j), course.Larger(e, j, takes))
		}
		if why != "" {
			return k.disown(ctx, e, j, why)
		}
	}
	if elsewhere == "" {
		return nil
	}
	if e.FinishBy != 0 || e.Tentative != 0 || j.Start != 0 {
		return k.disown(ctx, e, j, elsewhere+"; name that yourself, and it may be promised")
	}
	granted, err := k.Desk.StartGranting(ctx)
	if err != nil {
		return err
	}
	refusal, err := k.Desk.Adopt(ctx, e, j)
	if err == nil && refusal == "" {
		text := fmt.Sprintf("Slurm has accepted job %d otherwise than it was asked for: %s; the promise holds there, where the work costs %s, and the reservation at most %s more",
			j.ID, elsewhere, e.Work, e.AtMost().RoundedUp())
		err = k.Ledger.Adopt(ctx, e, ledger.Event{At: k.Now(), Kind: ledger.Note, Text: text})
	}
	granted()
	if refusal != "" {
		return k.disown(ctx, e, j, elsewhere+", and "+refusal)
	}
	return err
}

// alters reports whether plugins of the site may change jobs while they are submitted.
func (k *Keeper) alters() bool {
	c := k.Desk.Premises.Limits()
	return c != nil && len(c.SubmitPlugins) > 0
}

// disown settles the reservation that j names, as nothing is promised about j, and returns an
// api.ErrConflict that says why. The job begins no sooner than its work would, so that it does not
// let nodes idle for a promise that is none.
func (k *Keeper) disown(ctx context.Context, e *ledger.Entry, j *slurm.QueueEntry, why string) error {
	text := fmt.Sprintf("nothing is promised about job %d, which Slurm has accepted otherwise than it was asked for: %s", j.ID, why)
	if e.HoldUntil > k.Now() && !k.Desk.Shadow {
		text += "; " + k.letGo(ctx, e, j)
	}
	// taken back at once, it has kept room from others for no longer than until now
	if err := k.Ledger.Withdraw(ctx, e.ID, k.Now()); err != nil && !errors.Is(err, ledger.ErrTaken) {
		return err
	}
	if err := k.refuse(ctx, e, j, text); err != nil {
		return err
	}
	return api.Fault(api.ErrConflict, text)
}

// letGo sees to it that a job j about which nothing is promised begins no sooner than its work
// would, with the time limit of the work, and says so. A limit that somebody else has set stays.
func (k *Keeper) letGo(ctx context.Context, e *ledger.Entry, j *slurm.QueueEntry) string {
	moment := course.New(e, k.Now(), k.Zone).Moment
	var err error
	switch {
	case j.Start != 0:
		err = errors.New("it runs")
	case j.Eligible < e.HoldUntil:
		err = k.Slurm.Update(ctx, slurm.Update{Job: j.ID, BeginTime: e.HoldUntil})
	}
	if err != nil {
		k.Log.Warn("a job without a promise may hold nodes", "plan", e.ID, "job", j.ID, "error", err)
		return fmt.Sprintf("it may have nodes that idle until %s, when its work begins: cancel it, and submit it without a promise", moment(e.HoldUntil))
	}
	stays := fmt.Sprintf("it stays in the queue, and may start from %s on", moment(max(j.Eligible, e.HoldUntil)))
	if j.Limit != e.TimeLimit || e.TimeLimit == e.WorkLimit {
		return stays
	}
	if err := k.Slurm.Update(ctx, slurm.Update{Job: j.ID, Owner: j.User, TimeLimit: e.WorkLimit}); err != nil {
		k.Log.Warn("a job without a promise keeps a longer time limit", "plan", e.ID, "job", j.ID, "error", err)
		return stays + fmt.Sprintf("; its time limit is %s", slurmtime.FormatDuration(j.Limit))
	}
	return stays
}
