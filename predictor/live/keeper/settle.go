package keeper

import (
	"context"
	"fmt"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/live/ledger"
	"github.com/varq-project/varq/predictor/workload"
)

// lostAfter is how long after its latest possible end a job must be unknown to
// Slurm's queue and accounting alike before its reservation is given up, in
// seconds.
const lostAfter = 86400

// lateAndCancelled is the note of a job cancelled by --on-miss=cancel.
const lateAndCancelled = "not started by the deadline, so cancelled, as asked for"

// unclaimed attends to a plan that no job in the queue names. It is closed once
// accounting has been read far enough to know that no job has come and gone.
func (k *Keeper) unclaimed(ctx context.Context, e *ledger.Entry, now int64) error {
	if k.Past.Covered() < e.BeginBy+k.Grace {
		return nil
	}
	return k.settle(ctx, e, ledger.Settlement{At: now, Outcome: api.StateCancelled}, "never submitted")
}

// gone attends to a reservation whose job has left the queue: accounting tells
// how it ended, at once or a little later. A job that accounting cannot tell of
// is left alone for a while, so that it does not keep others from being settled.
func (k *Keeper) gone(ctx context.Context, e *ledger.Entry, now int64) error {
	if k.resting(e.ID, now) {
		return nil
	}
	runs, err := k.Slurm.Accounted(ctx, e.Job)
	if err != nil {
		k.rest(e.ID, now)
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

// lastRun returns the last of a job's runs, oldest first, that is e's; nil if
// none is.
func lastRun(e *ledger.Entry, runs []workload.Job) *workload.Job {
	for i := len(runs) - 1; i >= 0; i-- {
		if same(e, &runs[i]) {
			return &runs[i]
		}
	}
	return nil
}

// Learnt takes in jobs that accounting has just told of. A plan whose job came
// and went without being seen in the queue is bound and settled by it.
func (k *Keeper) Learnt(ctx context.Context, jobs []workload.Job) error {
	now := k.Now()
	for i := range jobs {
		j := &jobs[i]
		plan, ok := api.PlanInComment(j.Comment)
		if !ok || !j.State.Finished() || j.State == workload.Requeued {
			continue
		}
		if err := k.learnt(ctx, plan, j, now); err != nil {
			return err
		}
	}
	return nil
}

func (k *Keeper) learnt(ctx context.Context, plan string, j *workload.Job, now int64) error {
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

// outcome judges a promise by the last run of its job. The promise is that the
// job starts in time as it was planned; where the user has taken the job back,
// or changed it and it did not start in time, there is nothing to judge. The
// sentence why is for the user, and empty for a promise that was plainly kept.
func outcome(e *ledger.Entry, run *workload.Job, now int64) (s ledger.Settlement, why string) {
	s = ledger.Settlement{At: now, Eligible: run.Eligible, Start: run.Start, End: run.End}
	if p := &e.Progress; p.WorkStart != 0 && p.Start <= e.BeginBy && p.Start != run.Start {
		s.Outcome, s.Eligible, s.Start, s.WorkStart = api.StateKept, p.Eligible, p.Start, p.WorkStart
		return s, "requeued after its work had begun in time"
	}
	if run.Start != 0 && run.End >= workStart(e, run.Start) {
		s.WorkStart = workStart(e, run.Start)
	}
	switch {
	case s.WorkStart != 0 && run.Start <= e.BeginBy:
		s.Outcome = api.StateKept
	case run.State == workload.Cancelled && run.End < e.BeginBy:
		s.Outcome, why = api.StateCancelled, "cancelled before the deadline"
	case e.Progress.Yielded:
		s.Outcome, why = api.StateCancelled, "not started in time after the user had changed the job"
	case e.Progress.Held:
		s.Outcome, why = api.StateCancelled, "not started in time because the user held it"
	case run.Start == 0 && run.State == workload.Cancelled && e.OnMiss == api.OnMissCancel:
		s.Outcome, why = api.StateMissed, lateAndCancelled
	case run.Start == 0:
		s.Outcome, why = api.StateMissed, "not started by the deadline"
	case run.Start > e.BeginBy:
		s.Outcome, why = api.StateMissed, fmt.Sprintf("started %d s after the deadline", run.Start-e.BeginBy)
	default:
		s.Outcome, why = api.StateMissed, fmt.Sprintf("ended (%s) before its work could begin", run.State)
	}
	return s, why
}
