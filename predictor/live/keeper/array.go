package keeper

import (
	"context"
	"fmt"

	"github.com/varq-project/varq/predictor/live/course"
	"github.com/varq-project/varq/predictor/live/ledger"
	"github.com/varq-project/varq/predictor/workload"
)

// noteArrays records what the whole queue shows of the tasks of arrays.
func (k *follower) noteArrays(ctx context.Context, q *course.Queue, open []ledger.Entry) error {
	for i := range open {
		if e := &open[i]; e.Tasks > 0 && e.Job != 0 && q.Whole() {
			if err := k.failed(ctx, e, k.noteTasks(ctx, q, e)); err != nil {
				return err
			}
		}
	}
	return nil
}

// noteTasks records which tasks of an array have started, wait again or are gone.
func (k *follower) noteTasks(ctx context.Context, q *course.Queue, e *ledger.Entry) error {
	if changes := q.TaskChanges(e); len(changes) > 0 {
		if err := k.Ledger.SetTasks(ctx, e.ID, changes); err != nil {
			return err
		}
		if err := k.readAgain(ctx, e); err != nil {
			return err
		}
	}
	left := q.TasksLeft(e)
	if left == 0 || left == e.Tasks || q.At >= e.HoldUntil {
		return nil
	}
	text := fmt.Sprintf("tasks of it were cancelled; the promise is now about %d instead of %d", left, e.Tasks)
	if err := k.Ledger.Shrink(ctx, e, left, ledger.Event{At: q.At, Kind: ledger.User, Text: text}); err != nil {
		return err
	}
	return k.readAgain(ctx, e)
}

// readAgain brings e up to date with the ledger.
func (k *reservations) readAgain(ctx context.Context, e *ledger.Entry) error {
	fresh, open, err := k.Ledger.OpenPlan(ctx, e.ID)
	if err == nil && open {
		*e = fresh
	}
	return err
}

// settleArray settles a reservation of which the queue shows no task, or none of those promised,
// once accounting knows how these have ended.
func (k *settler) settleArray(ctx context.Context, e *ledger.Entry, runs []workload.Job, now int64) error {
	run, idled := course.Together(e, runs, now)
	if run == nil {
		if now < e.Deadline()+e.TimeLimit+lostAfter {
			return nil // accounting may lag behind the queue
		}
		s, why := course.JudgeLost(e, now)
		if why == "" {
			why = "Slurm has lost the array: accounting does not know how its tasks ended"
		}
		return k.settle(ctx, e, s, why)
	}
	if unseen := course.UnseenTasks(e, runs); len(unseen) > 0 {
		if err := k.Ledger.SetTasks(ctx, e.ID, unseen); err != nil {
			return err
		}
	}
	c := k.newChange(e, now)
	c.Progress.HeldBefore += idled
	if err := k.record(ctx, e, c); err != nil {
		return err
	}
	s, why := course.Judge(e, run, now)
	return k.settle(ctx, e, s, why)
}

// bindPast binds a plan to the array of a task that has ended before the queue was seen to have it.
// Watch settles the reservation once all tasks that it promises have ended.
func (k *settler) bindPast(ctx context.Context, e *ledger.Entry, task *workload.Job) error {
	if !e.Open || e.Job != 0 || task.Array == 0 || e.Withdrawn != 0 {
		return nil
	}
	array := *task
	array.ID = task.Array
	if err := k.bind(ctx, e, &array, true); err != nil {
		k.Log.Warn("a past array could not be bound", "plan", e.ID, "job", array.ID, "error", err)
	}
	return nil
}

// partlyStarted reports whether some tasks of e's array have started: varq changes none of them any
// more.
func partlyStarted(e *ledger.Entry) bool { return e.Tasks > 0 && e.Started > 0 }
