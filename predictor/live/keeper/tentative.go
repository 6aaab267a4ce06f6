package keeper

import (
	"context"
	"errors"
	"fmt"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/live/course"
	"github.com/varq-project/varq/predictor/live/ledger"
	"github.com/varq-project/varq/predictor/promise/trajectory"
	"github.com/varq-project/varq/predictor/slurm"
)

// Confirm confirms user's tentative promise, and lets its job become eligible when the plan says.
// Confirming it again changes nothing. If Slurm does not answer, the promise is confirmed
// nevertheless, and Watch moves the job. A promise cannot be confirmed any more if its time for
// confirmation or its deadline is over, if it was taken back, or if Slurm has lost its job. Then
// the fault is ErrConflict, and the job has not started and will not start. While this cannot be
// decided, the fault is ErrUnavailable.
func (k *Keeper) Confirm(ctx context.Context, user string, b api.Confirmation) error {
	e, err := k.planOf(ctx, user, b.Plan)
	if err != nil {
		return err
	}
	if e.Job == 0 && e.Open {
		if err := k.Bind(ctx, user, api.Binding(b)); err != nil {
			return err
		}
	}
	waiting, cancel := context.WithTimeout(ctx, acceptWaits)
	defer cancel()
	if err := k.lock(waiting); err != nil {
		return api.Fault(api.ErrUnavailable, "varqd is busy with other reservations; try again")
	}
	defer k.unlock()
	if e, err = k.planOf(ctx, user, b.Plan); err != nil {
		return err
	}
	now := k.Now()
	switch {
	case e.Tentative == 0:
		return api.Fault(api.ErrConflict, "the promise holds as it is, and need not be confirmed")
	case e.Job != 0 && e.Job != b.Job:
		return api.Fault(api.ErrConflict, fmt.Sprintf("the promise is that of job %d", e.Job))
	case e.Progress.Confirmed != 0:
		return nil
	case !e.Open, e.Job == 0, e.Withdrawn != 0, now > e.Tentative:
		return errNotConfirmed
	case now >= e.Deadline():
		return errConfirmedLate
	}
	moving, cancel := context.WithTimeout(context.WithoutCancel(ctx), acceptMoves)
	defer cancel()
	j, err := k.Slurm.Job(moving, e.Job)
	if errors.Is(err, slurm.ErrNotFound) || err == nil && !course.IsQueued(e, &j) {
		return api.Fault(api.ErrConflict, fmt.Sprintf("job %d has ended, or Slurm has lost it", e.Job))
	}
	if now = k.Now(); now >= e.Deadline() { // Slurm may have answered late
		return errConfirmedLate
	}
	if err := k.recordConfirmed(ctx, e, now); err != nil {
		return err
	}
	if err == nil {
		err = k.release(moving, e, &j, now)
	}
	if err != nil {
		k.Log.Info("a confirmed job is moved later", "plan", e.ID, "job", e.Job, "error", err)
	}
	return nil
}

// errNotConfirmed is the error of a confirmation that comes too late.
var errNotConfirmed = api.Fault(api.ErrConflict, "the promise was "+course.NotConfirmed+", and is taken back")

// errConfirmedLate is the error of a confirmation that comes after the deadline.
var errConfirmedLate = api.Fault(api.ErrConflict, "its time is over, so that nothing is promised any more")

// errConfirmed is the error of taking back a promise that was confirmed.
func errConfirmed(e *ledger.Entry) error {
	return api.Fault(api.ErrConflict, fmt.Sprintf("the promise was confirmed: cancel its job, with scancel %d", e.Job))
}

// recordConfirmed puts the confirmation on disk, unless the promise was taken back. If both happen
// at the same time, one comes first.
func (k *Keeper) recordConfirmed(ctx context.Context, e *ledger.Entry, now int64) error {
	c := k.newChange(e, now)
	c.Progress.Confirmed = now
	c.Event(ledger.Agreed, "confirmed")
	err := k.record(ctx, e, c)
	if errors.Is(err, ledger.ErrWithdrawn) {
		return errNotConfirmed
	}
	return err
}

// release moves the job of a confirmed promise to its begin time, if it has not been moved yet.
func (k *Keeper) release(ctx context.Context, e *ledger.Entry, j *slurm.QueueEntry, now int64) error {
	if e.Tentative == 0 || k.memory.postponed(e.ID, now) {
		return nil
	}
	c := k.newChange(e, now)
	c.Observe(j)
	if err := k.record(ctx, e, c); err != nil {
		return err
	}
	if p := &e.Progress; p.Yielded || p.Held || p.Stopped != "" || p.BeginTime != e.SubmitBegin() {
		return nil
	}
	k.memory.changeNow(e.ID, now) // the queue was read before
	return k.changeJob(ctx, e, j, c, trajectory.Submission{Begin: max(e.BeginTime, now), Limit: e.Progress.TimeLimit}, "the reservation is confirmed")
}

// followTentative follows the job of a promise that is not confirmed yet, and cancels the job when
// the time for confirmation is over. If its user has changed the job, it leaves the job alone, and
// nothing is promised about it.
func (k *Keeper) followTentative(ctx context.Context, e *ledger.Entry, j *slurm.QueueEntry, now int64) error {
	c := k.newChange(e, now)
	if j.Start == 0 {
		c.Observe(j)
	}
	if err := k.record(ctx, e, c); err != nil {
		return err
	}
	switch {
	case now <= e.Tentative && e.Withdrawn == 0, k.memory.postponed(e.ID, now):
		return nil
	case c.Progress.Yielded, j.Start != 0:
		return k.settle(ctx, e, ledger.Settlement{At: now, Outcome: api.StateCancelled}, course.NotConfirmed+"; its user has changed the job, so varq leaves it alone")
	}
	return k.cancelLate(ctx, e, c, course.NotConfirmed+", so cancelled")
}

// withdrawNow cancels the job of a tentative promise that was taken back. It does not wait for
// Watch, because the user's command waits. If Slurm does not answer soon, Watch cancels the job.
func (k *Keeper) withdrawNow(ctx context.Context, e *ledger.Entry, now int64) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), bindTimeout)
	defer cancel()
	if k.lock(ctx) != nil {
		return
	}
	defer k.unlock()
	j, err := k.Slurm.Job(ctx, e.Job)
	if err == nil && course.IsQueued(e, &j) {
		err = k.followTentative(ctx, e, &j, now)
	}
	if err != nil {
		k.Log.Info("the job of a promise taken back is cancelled later", "plan", e.ID, "job", e.Job, "error", err)
	}
}

// cancelStrays cancels the jobs of the whole queue that were submitted for tentative promises and
// cannot become theirs any more. There are such jobs for two reasons. A command that waited for
// slurmctld may submit its job after the promise has been taken back. And a repeated command may
// submit two jobs. Such a job is known by its begin time, which only tentative promises have.
// Thousands of open promises may have other begin times; cancelStrays does not ask the ledger about
// their jobs.
func (k *Keeper) cancelStrays(ctx context.Context, q *course.Queue, open []ledger.Entry, now int64) error {
	entryOf := make(map[string]*ledger.Entry, len(open))
	for i := range open {
		entryOf[open[i].ID] = &open[i]
	}
	for plan, jobs := range q.Plans {
		for _, j := range jobs {
			if j.Start != 0 || j.Eligible <= now+86400 || k.memory.postponed(plan, now) {
				continue
			}
			if e := entryOf[plan]; e != nil && !asSubmitted(e, j) {
				continue
			}
			entries, err := k.Ledger.Select(ctx, ledger.Query{Plan: plan, User: j.User})
			if err != nil {
				return err
			}
			if len(entries) == 0 || !asSubmitted(&entries[0], j) || entries[0].Open && (entries[0].Job == 0 || course.IsQueued(&entries[0], j)) {
				continue
			}
			k.Log.Info("a job of a tentative promise that has ended is cancelled", "plan", plan, "job", j.ID, "user", j.User)
			if err := k.Slurm.Cancel(ctx, j.ID); err != nil && !errors.Is(err, slurm.ErrNotFound) {
				k.memory.postponeAfter(err, plan, k.Now())
				if err := k.failed(ctx, &entries[0], fmt.Errorf("cancel job %d of a tentative promise: %w", j.ID, err)); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// asSubmitted reports whether a job still has the begin time with which jobs are submitted for e.
// It is false if e is not tentative.
func asSubmitted(e *ledger.Entry, j *slurm.QueueEntry) bool {
	return e.Tentative != 0 && e.SubmitBegin() == j.Eligible
}
