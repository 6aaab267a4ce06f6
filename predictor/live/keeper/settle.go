package keeper

import (
	"context"
	"fmt"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/live/ledger"
	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/workload"
)

// lostAfter is how many seconds after its latest planned end a job counts as lost, if it
// is not in the queue and accounting does not show its end.
const lostAfter = 86400

// expire settles a plan without a job, Grace after its deadline. It first waits until
// accounting has been read up to that time, since a job of the plan may have ended before
// the queue showed it. The note "never submitted" is also given if a job in the queue
// claims the plan but cannot be bound, because it is bound to another plan.
func (k *Keeper) expire(ctx context.Context, e *ledger.Entry, _ *slurm.QueueEntry, now int64) error {
	if k.Outlook.Covered() < e.BeginBy+k.Grace {
		return nil
	}
	return k.settle(ctx, e, ledger.Settlement{At: now, Outcome: api.StateCancelled}, "never submitted")
}

// settleGone settles a reservation whose job is not in the queue, once accounting shows how
// the job ended. If accounting cannot be read for one job, settleGone does not ask for it
// again for a while, so that the other jobs are settled.
func (k *Keeper) settleGone(ctx context.Context, e *ledger.Entry, _ *slurm.QueueEntry, now int64) error {
	if k.memory.postponed(e.ID, now) {
		return nil
	}
	runs, err := k.Slurm.Accounted(ctx, e.Job)
	if err != nil {
		k.memory.postpone(e.ID, now)
		return fmt.Errorf("look up the job in accounting: %w", err)
	}
	last := lastRun(e, runs)
	if last != nil && last.State.Finished() && last.State != workload.Requeued {
		s, why := judge(e, last, now)
		return k.settle(ctx, e, s, why)
	}
	if now < e.BeginBy+e.TimeLimit+lostAfter {
		return nil // accounting lags behind the queue
	}
	why := "Slurm has no trace of the job"
	if last != nil {
		why = "Slurm has lost the job: it has left the queue, but accounting knows of no end"
	}
	return k.settle(ctx, e, ledger.Settlement{At: now, Outcome: api.StateCancelled}, why)
}

// lastRun returns the last run of e's job, or nil. runs are in order, oldest first, and may
// contain other jobs with the same id.
func lastRun(e *ledger.Entry, runs []workload.Job) *workload.Job {
	for i := len(runs) - 1; i >= 0; i-- {
		if isJobOf(e, &runs[i]) {
			return &runs[i]
		}
	}
	return nil
}

// ObserveAccounting takes in jobs newly read from accounting, and settles the reservations
// of jobs that have ended. A job that names a plan in its comment, but that Watch has never
// seen in the queue, is bound first. A job that is given again changes nothing.
func (k *Keeper) ObserveAccounting(ctx context.Context, jobs []workload.Job) error {
	now := k.Now()
	for i := range jobs {
		j := &jobs[i]
		plan, ok := api.PlanInComment(j.Comment)
		if !ok || !j.State.Finished() || j.State == workload.Requeued {
			continue
		}
		if err := k.settleEnded(ctx, plan, j, now); err != nil {
			return err
		}
	}
	return nil
}

// settleEnded settles the reservation of a plan. j has ended, and its comment names the
// plan.
func (k *Keeper) settleEnded(ctx context.Context, plan string, j *workload.Job, now int64) error {
	if err := k.lock(ctx); err != nil {
		return err
	}
	defer k.unlock()
	entries, err := k.Ledger.Select(ctx, ledger.Query{Plan: plan, User: j.User, Open: true})
	if err != nil || len(entries) == 0 {
		return err
	}
	e := &entries[0]
	if e.Job == 0 {
		if err := k.bind(ctx, e, j, now); err != nil {
			k.Log.Warn("a past job could not be bound", "plan", plan, "job", j.ID, "error", err)
			return nil
		}
	}
	if !isJobOf(e, j) {
		return nil
	}
	s, why := judge(e, j, now)
	return k.settle(ctx, e, s, why)
}

// settle closes a reservation in the ledger. why is the note for the user; there is none
// if why is empty.
func (k *Keeper) settle(ctx context.Context, e *ledger.Entry, s ledger.Settlement, why string) error {
	var events []ledger.Event
	if why != "" {
		events = append(events, ledger.Event{At: s.At, Kind: ledger.Note, Text: why})
	}
	if err := k.Ledger.Settle(ctx, e.ID, s, events...); err != nil {
		return err
	}
	k.Log.Info("settled", "plan", e.ID, "job", e.Job, "user", e.User, "outcome", s.Outcome, "why", why)
	return nil
}
