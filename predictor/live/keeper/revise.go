package keeper

import (
	"context"
	"errors"
	"fmt"

	"github.com/varq-project/varq/predictor/live/course"
	"github.com/varq-project/varq/predictor/live/ledger"
	"github.com/varq-project/varq/predictor/prob"
	"github.com/varq-project/varq/predictor/promise/trajectory"
	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/slurmtime"
)

// revisedAtOnce is the greatest number of reservations that one Watch plans again. If there are
// more, they take turns, so that no Watch takes minutes.
const revisedAtOnce = 100

// reviseInTurn revises the open reservations whose jobs wait. It takes the lock for one reservation
// at a time, because submissions wait for the lock, too.
func (k *Keeper) reviseInTurn(ctx context.Context, q *course.Queue, open []ledger.Entry, now int64) error {
	var waiting []ledger.Entry
	for _, d := range planned.due(q, open, now) {
		waiting = append(waiting, *d.e)
	}
	if len(waiting) > revisedAtOnce {
		all := waiting
		waiting = nil
		for u, e := range k.inTurn(all, now) {
			if len(waiting) == revisedAtOnce {
				break
			}
			k.memory.hadTurn(u, e.Job)
			waiting = append(waiting, e)
		}
	}
	for i := range waiting {
		err := k.withOpen(ctx, waiting[i].ID, func(e *ledger.Entry) error {
			due := planned.due(q, []ledger.Entry{*e}, now)
			if len(due) == 0 || k.memory.changedSince(e.ID, now) { // by now
				return nil
			}
			return k.failed(ctx, e, planned.do(k, ctx, due[0].e, due[0].j, now))
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// revise plans the reservation of a pending job again, and changes the job if the new plan is
// better.
//
// The begin time stays within the ceiling that the user has agreed to. If more idle time of the
// nodes would keep the promise, revise offers it to the user instead; see Accept.
//
// Invariant: when Slurm requeues a job, it sets a begin time, and revise never moves the job to an
// earlier one. Slurm waits until the credential of the former run has expired. If a job is launched
// before, a node may kill it as one that has ended, and Slurm then ends it for good.
func (k *reviser) revise(ctx context.Context, e *ledger.Entry, j *slurm.QueueEntry, now int64) error {
	c := k.newChange(e, now)
	c.Observe(j)
	if err := k.record(ctx, e, c); err != nil {
		return err
	}
	stopped := e.Progress.Held || e.Progress.Stopped != "" || j.Eligible == 0 && j.Dependency == "" || e.Progress.Yielded && course.Unforeseeable(e, j)
	if stopped || e.Progress.Yielded { // until it is forecast again
		k.memory.dropForecast(e.ID)
	}
	planner, r, ok := k.Desk.Again(e, j, now)
	if !ok {
		return nil // the job stays as it is, and nobody is warned; varqd's health says why
	}
	current := trajectory.Submission{Begin: e.Progress.BeginTime, Limit: e.Progress.TimeLimit}
	requeued := j.RestartCount > 0
	if requeued {
		r.Earliest = min(max(r.Earliest, current.Begin), r.Deadline)
	}
	revised := planner.Replan(r, current)
	k.Metrics.replans.Inc()
	// jobs inside of reservations tell nothing of others
	if !e.Progress.Yielded && !partlyStarted(e) && e.Inside == "" {
		promised := r.All()
		promised.Limit = revised.Limit
		k.Outlook.Promise(e.Job, e.Tasks, promised, revised.Begin, e.BeginBy, revised.Prob >= e.Prob)
	}
	switch {
	case stopped:
		return nil
	case e.Tasks > 0 && j.AtOnce > 0 && j.AtOnce < e.Tasks:
		k.memory.foresee(e.ID, 0, obstacle{says: fmt.Sprintf("the array lets %d of its tasks run at once, and %d are promised", j.AtOnce, e.Tasks)}, 0)
		return nil
	case e.Progress.Yielded, j.Dependency != "", partlyStarted(e), requeued && revised.Begin < current.Begin:
		k.setForecast(planner, &r, e, j, &revised)
		k.memory.setRescue(e.ID, nil)
		return nil
	case requeued:
		k.memory.setRescue(e.ID, nil)
	default:
		k.offerRescue(planner, &r, e, revised)
	}
	k.setForecast(planner, &r, e, j, &revised)
	to := k.permitted(current, revised.Submission, now)
	switch {
	case to == current, k.memory.postponed(e.ID, now):
		return nil
	case to.Begin != current.Begin && !requeued && !rescues(e, &revised) && !k.memory.isSettled(e.ID, e.Promised, now, k.Settle):
		return nil
	case to.Begin != current.Begin:
		k.memory.move(e.ID, now)
	}
	if err := k.changeJob(ctx, e, j, c, to, why(e, &revised, to)); err != nil {
		return err
	}
	if set := (trajectory.Submission{Begin: e.Progress.BeginTime, Limit: e.Progress.TimeLimit}); set == revised.Submission && revised.Begin != current.Begin {
		k.memory.foresee(e.ID, revised.Prob, obstacle{}, 0)
	}
	return nil
}

// rescues reports whether a move reaches what e promises, which the job does not without it, or is
// what the user has just agreed to.
func rescues(e *ledger.Entry, revised *trajectory.Revision) bool {
	return revised.Stay < e.Prob && (revised.Prob >= e.Prob || revised.Begin == e.Progress.Earliest)
}

// why tells the user why varq moves the job of e: the estimates before and after, and
// the greatest cost of idle nodes from now on.
func why(e *ledger.Entry, revised *trajectory.Revision, to trajectory.Submission) string {
	cost := fmt.Sprintf("idle nodes cost at most %s", e.Idle(to.Begin).RoundedUp())
	if revised.Stay >= e.Prob {
		return fmt.Sprintf("even so its estimate is %s; %s", prob.Format(revised.Prob), cost)
	}
	return fmt.Sprintf("its estimate had fallen to %s, and is %s with this; %s", prob.Format(revised.Stay), prob.Format(revised.Prob), cost)
}

// permitted returns the part of the change from one submission to another that varqd may make:
// while Slurm does not let varqd act as the jobs' owners, time limits stay as they are.
func (k *reviser) permitted(from, to trajectory.Submission, now int64) trajectory.Submission {
	switch {
	case k.memory.limitsFrozen(now) && to.Limit > from.Limit:
		return from
	case k.memory.limitsFrozen(now):
		to.Limit = from.Limit
	}
	return to
}

// errMeanwhile is the error of changeJob if the job is not as it was when the queue was read.
var errMeanwhile = errors.New("the job has changed meanwhile")

// changeJob changes the begin time and the time limit of a job. It first writes the new values into
// the ledger, then sends them to Slurm, and then writes the event. The next Watch sees in the queue
// which part of the change Slurm has made.
//
// The user may change the job between Watch's reading of the queue and this change. So changeJob
// reads the job once more. If it differs from j, changeJob leaves it alone and returns
// errMeanwhile: the next Watch will see what has changed. why tells the user the reason.
func (k *reviser) changeJob(ctx context.Context, e *ledger.Entry, j *slurm.QueueEntry, c *course.Change, to trajectory.Submission, why string) error {
	from := trajectory.Submission{Begin: e.Progress.BeginTime, Limit: e.Progress.TimeLimit}
	switch fresh, err := k.Slurm.Job(ctx, e.Job); {
	case errors.Is(err, slurm.ErrNotFound):
		return errMeanwhile
	case err != nil:
		return fmt.Errorf("read the job before revising it: %w", err)
	case fresh.Submit != j.Submit || fresh.Eligible != j.Eligible || fresh.Limit != j.Limit || fresh.Start != 0 || fresh.Tasks != j.Tasks || fresh.Held || course.Asks(&fresh) != course.Asks(j):
		return errMeanwhile
	}
	c.Progress.BeginTime, c.Progress.TimeLimit = to.Begin, to.Limit
	if err := k.record(ctx, e, c); err != nil {
		return err
	}
	if err := k.update(ctx, e, from, to, c.Now); err != nil {
		k.memory.postponeAfter(err, e.ID, k.Now())
		return fmt.Errorf("revise the job: %w", err)
	}
	if to.Begin != from.Begin {
		c.Event(ledger.Moved, "begin time moved from %s to %s: %s", c.Moment(from.Begin), c.Moment(to.Begin), why)
	}
	switch {
	case to.Limit == from.Limit:
	case to.Begin == from.Begin:
		c.Event(ledger.Trimmed, "time limit shortened to %s: the nodes can idle for less time now", slurmtime.FormatDuration(to.Limit))
	default:
		c.Event(ledger.Limited, "time limit changed from %s to %s", slurmtime.FormatDuration(from.Limit), slurmtime.FormatDuration(to.Limit))
	}
	k.Metrics.revisions.Inc()
	return k.record(ctx, e, c)
}

// update sends a change to Slurm. At no time is the job's limit too short for its begin time,
// because the job may start between two requests. So a later begin time comes before the shorter
// limit, and a longer limit before the earlier begin time. The second request is sent only after
// Slurm has accepted the first.
//
// Limits are changed as the job's owner. Slurm checks an owner's change; an operator's would exempt
// the job from all of Slurm's limits on its time. Begin times are subject to no limit.
func (k *reviser) update(ctx context.Context, e *ledger.Entry, from, to trajectory.Submission, now int64) error {
	begin := func() error {
		if to.Begin == from.Begin {
			return nil
		}
		return k.Slurm.Update(ctx, slurm.Update{Job: e.Job, BeginTime: to.Begin})
	}
	limit := func() error {
		if to.Limit == from.Limit {
			return nil
		}
		err := k.Slurm.Update(ctx, slurm.Update{Job: e.Job, Owner: e.User, TimeLimit: to.Limit})
		if errors.Is(err, slurm.ErrPermission) {
			k.Log.Warn("Slurm does not let varqd change jobs as their owners, so their time limits stay as they are", "job", e.Job, "owner", e.User, "error", err)
			k.memory.freezeLimits(now)
		}
		return err
	}
	steps := []func() error{begin, limit}
	if to.Limit > from.Limit {
		steps = []func() error{limit, begin}
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}
