package keeper

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/live/course"
	"github.com/varq-project/varq/predictor/live/ledger"
	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/workload"
)

// bindTimeout bounds how long Bind waits for Slurm and for the lock. It bounds also the cancelling
// of a job whose promise is taken back.
const bindTimeout = 1500 * time.Millisecond

// Bind binds user's plan to user's job, which must be in the queue and be the job that was
// promised, or that which the site has made of it: see adopt. A job that has started already must
// name the plan in its comment. Binding the same job again changes nothing. If Slurm does not have
// the job any more, a plan without a job is taken back. The errors that the user should read are
// faults of package api.
func (k *Keeper) Bind(ctx context.Context, user string, b api.Binding) error {
	e, err := k.planOf(ctx, user, b.Plan)
	if err != nil {
		return err
	}
	if known, err := isBound(e, b.Job); known {
		return err
	}
	asking, cancel := context.WithTimeout(ctx, bindTimeout)
	defer cancel()
	j, err := k.Slurm.Job(asking, b.Job)
	missing := errors.Is(err, slurm.ErrNotFound)
	if missing && e.Job == 0 {
		if err := k.Cancel(ctx, user, api.Cancellation{Plan: b.Plan}); err != nil {
			return err
		}
	}
	if missing || err == nil && j.User != user {
		return api.Fault(api.ErrForbidden, fmt.Sprintf("you have no job %d in the queue", b.Job))
	}
	if err == nil {
		plan, named := api.PlanInComment(j.Comment)
		ours := named && plan == b.Plan && k.alters() // adopt says what the site has changed
		if why := course.Unlike(e, &j.Job); why != "" && course.Elsewhere(e, &j.Job) == "" && !ours {
			return api.Fault(api.ErrConflict, fmt.Sprintf("job %d is not the job that was promised: %s", b.Job, why))
		}
		if named && plan != b.Plan {
			return api.Fault(api.ErrConflict, fmt.Sprintf("job %d is the job of another plan", b.Job))
		}
		if j.Start != 0 && !named {
			return api.Fault(api.ErrConflict, fmt.Sprintf("job %d has started already, without this plan", b.Job))
		}
		err = k.lock(asking)
	}
	if err != nil {
		k.Log.Warn("bind: Slurm cannot be asked", "job", b.Job, "error", err)
		return api.Fault(api.ErrUnavailable, "Slurm cannot be asked now; varqd will find the job by its comment")
	}
	defer k.unlock()
	// Meanwhile Watch may have found the job, and the plan may have been confirmed.
	if e, err = k.planOf(ctx, user, b.Plan); err != nil {
		return err
	}
	if known, err := isBound(e, b.Job); known {
		return err
	}
	if err := k.adopt(ctx, e, &j); err != nil {
		return err
	}
	err = k.bindQueued(ctx, e, &j, k.Now())
	switch {
	case errors.Is(err, ledger.ErrBound), errors.Is(err, ledger.ErrJobTaken), errors.Is(err, ledger.ErrClosed):
		return api.Fault(api.ErrConflict, err.Error())
	case err != nil:
		return err
	}
	return nil
}

// isBound reports whether a job is known to be that of e's plan. The error is an api.ErrConflict
// that says why nothing is promised about the job.
func isBound(e *ledger.Entry, job int64) (bool, error) {
	if e.Refused == job && e.Note != "" {
		return true, api.Fault(api.ErrConflict, e.Note)
	}
	return e.Job == job, nil
}

// planOf returns the entry of user's plan, or a fault if she has no such plan.
func (k *reservations) planOf(ctx context.Context, user, plan string) (*ledger.Entry, error) {
	entries, err := k.Ledger.Select(ctx, ledger.Query{Plan: plan, User: user})
	if err != nil {
		return nil, err
	}
	if len(entries) == 0 {
		return nil, api.Fault(api.ErrNotFound, "you have no such plan")
	}
	return &entries[0], nil
}

// bindQueued binds e's plan to a job of the queue. If the job later asks for something else than
// now, its user has changed it. If the job cannot be bound, a fault of package api says why.
func (k *Keeper) bindQueued(ctx context.Context, e *ledger.Entry, j *slurm.QueueEntry, now int64) error {
	// it may be the job of another plan, which does not know of the requeue yet
	if j.RestartCount > 0 {
		others, err := k.Ledger.Select(ctx, ledger.Query{User: e.User, Job: j.ID, Open: true})
		if err != nil || slices.ContainsFunc(others, func(other ledger.Entry) bool { return other.ID != e.ID }) {
			return cmp.Or(err, ledger.ErrJobTaken)
		}
	}
	err := k.bind(ctx, e, &j.Job, false)
	if errors.Is(err, ledger.ErrLapsed) {
		err = k.bindLapsed(ctx, e, j)
	}
	if err != nil {
		return err
	}
	c := k.newChange(e, now)
	c.Progress.Interactive = j.Interactive
	if j.Start == 0 {
		c.Progress.Asks = course.AskedAtFirst(e, j)
	}
	return k.record(ctx, e, c)
}

// bind binds e's plan to j, in the ledger and in e. granted is true if the room of a lapsed plan
// was granted again.
func (k *reservations) bind(ctx context.Context, e *ledger.Entry, j *workload.Job, granted bool) error {
	if err := k.Ledger.Bind(ctx, e.ID, j.User, j.ID, j.Submit, k.Now(), granted); err != nil {
		return err
	}
	e.Job = j.ID
	e.Progress.Submit = j.Submit
	e.Progress.BeginTime, e.Progress.WasBegin = e.SubmitBegin(), e.SubmitBegin()
	e.Progress.State = api.StatePending
	k.Log.Info("bound", "plan", e.ID, "job", j.ID, "user", j.User)
	return nil
}
