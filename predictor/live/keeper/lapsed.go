package keeper

import (
	"context"
	"fmt"
	"slices"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/live/course"
	"github.com/varq-project/varq/predictor/live/desk"
	"github.com/varq-project/varq/predictor/live/ledger"
	"github.com/varq-project/varq/predictor/slurm"
)

// bindLapsed binds e's plan to a job although the plan has lapsed: it was taken back, or was
// without a job for long, so that no room is kept for it. The room must be granted again, by the
// same rules as for a new promise, because others may have been promised it. If it is refused,
// bindLapsed settles the reservation, and returns an api.ErrConflict. While this cannot be decided,
// it returns an api.ErrUnavailable.
func (k *Keeper) bindLapsed(ctx context.Context, e *ledger.Entry, j *slurm.QueueEntry) error {
	granted, err := k.Desk.StartGranting(ctx)
	if err != nil {
		return err
	}
	defer granted()
	is, err := k.planOf(ctx, e.User, e.ID)
	if err != nil {
		return err
	}
	refusal, err := k.Desk.Objection(ctx, is, j)
	if err != nil {
		return err
	}
	if refusal == "" {
		return k.bind(ctx, e, &j.Job, true)
	}
	after := "when no room was kept for it"
	if is.Withdrawn != 0 {
		after = "after it was taken back"
	}
	why := fmt.Sprintf("job %d has taken up the plan %s, and by then %s; so nothing is promised about the job", j.ID, after, refusal)
	if is.Tentative == 0 { // a tentative one is cancelled, like one that was never confirmed
		why += ", which stays as it is: to ask again, cancel it and submit it anew"
	}
	if err := k.refuse(ctx, e, j, why); err != nil {
		return err
	}
	return api.Fault(api.ErrConflict, why)
}

// refuse settles the reservation of a plan that j names. Nothing is promised about j, and why says
// the reason.
func (k *Keeper) refuse(ctx context.Context, e *ledger.Entry, j *slurm.QueueEntry, why string) error {
	return k.settle(ctx, e, ledger.Settlement{At: k.Now(), Outcome: api.StateCancelled, Refused: j.ID}, why)
}

// refuseLatecomers finds jobs that have come a moment ago, and name a plan that was closed before
// because no job had come. It tells their users that nothing is promised about these jobs.
func (k *Keeper) refuseLatecomers(ctx context.Context, q *course.Queue, open []ledger.Entry, now int64) error {
	asked := 0
	for plan, jobs := range q.Plans {
		for _, j := range jobs {
			isPlan := func(e ledger.Entry) bool { return e.ID == plan }
			if j.Submit < now-desk.Latecomer || asked == mostLatecomers || slices.ContainsFunc(open, isPlan) {
				continue
			}
			asked++
			entries, err := k.Ledger.Select(ctx, ledger.Query{Plan: plan, User: j.User})
			if err != nil {
				return err
			}
			if len(entries) == 0 || entries[0].Open || entries[0].Job != 0 || entries[0].Refused != 0 {
				continue
			}
			text := fmt.Sprintf("job %d names the plan, which was closed before the job came (%s); nothing is promised about the job", j.ID, entries[0].Note)
			if err := k.Ledger.Refuse(ctx, plan, j.ID, ledger.Event{At: now, Kind: ledger.Note, Text: text}); err != nil {
				return err
			}
		}
	}
	return nil
}

// mostLatecomers bounds the number of such jobs for which one Watch asks the ledger.
const mostLatecomers = 100
