package keeper

import (
	"context"
	"fmt"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/live/ledger"
	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/workload"
)

// lostAfter is how long after its latest possible end, in seconds, a job counts as
// lost that is not in the queue and of whose end accounting knows nothing.
const lostAfter = 86400

// expire closes a plan that no job has taken up, once accounting has been read far
// enough to know that no job has come and gone.
func (k *Keeper) expire(ctx context.Context, e *ledger.Entry, _ *slurm.QueueEntry, now int64) error {
	if k.Past.Covered() < e.BeginBy+k.Grace {
		return nil
	}
	return k.settle(ctx, e, ledger.Settlement{At: now, Outcome: api.StateCancelled}, "never submitted")
}

// gone settles a reservation whose job has left the queue, once accounting shows how
// the job ended. A job that accounting fails on is left alone for a while, so that it
// does not keep others from being settled.
func (k *Keeper) gone(ctx context.Context, e *ledger.Entry, _ *slurm.QueueEntry, now int64) error {
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
		s, why := outcome(e, last, now)
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

// lastRun returns the last of runs, oldest first, that is one of e's job, or nil.
func lastRun(e *ledger.Entry, runs []workload.Job) *workload.Job {
	for i := len(runs) - 1; i >= 0; i-- {
		if same(e, &runs[i]) {
			return &runs[i]
		}
	}
	return nil
}

// Learnt takes in jobs newly read from accounting. It settles the reservations of those
// that have ended, and binds those first that were never seen in the queue. A job that
// comes again changes nothing.
func (k *Keeper) Learnt(ctx context.Context, jobs []workload.Job) error {
	now := k.Now()
	for i := range jobs {
		j := &jobs[i]
		plan, ok := api.PlanInComment(j.Comment)
		if !ok || !j.State.Finished() || j.State == workload.Requeued {
			continue
		}
		if err := k.ended(ctx, plan, j, now); err != nil {
			return err
		}
	}
	return nil
}

// ended settles the reservation of a plan by a job that has ended and names the plan.
func (k *Keeper) ended(ctx context.Context, plan string, j *workload.Job, now int64) error {
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
	if !same(e, j) {
		return nil
	}
	s, why := outcome(e, j, now)
	return k.settle(ctx, e, s, why)
}

// settle closes a reservation, with a note that says why unless that is plain.
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
