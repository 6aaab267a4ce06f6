package keeper

import (
	"context"
	"fmt"

	"github.com/varq-project/varq/predictor/live/ledger"
	"github.com/varq-project/varq/predictor/promise/trajectory"
	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/slurmtime"
	"github.com/varq-project/varq/predictor/workload"
)

// revise plans the reservation of a pending job again, and changes the job if there
// is something to gain.
//
// Slurm lets an operator, as varqd is, exceed its limits. So the keeper observes them
// itself: the limits of the job as it is, wherever its user has moved it since.
func (k *Keeper) revise(ctx context.Context, e *ledger.Entry, j *slurm.QueueEntry, now int64) error {
	c := k.newChange(e, now)
	c.observe(j)
	if err := k.record(ctx, e, c); err != nil {
		return err
	}
	planner, err := k.planner()
	if err != nil {
		return nil // the job stands as it was promised; varqd's health says why
	}
	if _, ok := planner.Cluster.Partitions[j.Partition]; !ok {
		return nil // a list of partitions, or a new one
	}
	r := trajectory.Request{
		Job: workload.Request{User: e.User, Account: j.Account, Partition: j.Partition, QOS: j.QOS, Size: e.Size, Limit: e.WorkLimit},
		Now: now, Deadline: e.BeginBy, HoldUntil: e.HoldUntil, Prob: e.Prob,
	}
	current := trajectory.Submission{Begin: e.Progress.BeginTime, Limit: e.Progress.TimeLimit}
	revised := planner.Replan(r, current)
	k.Metrics.replans.Inc()
	if !e.Progress.Yielded {
		promised := r.Job
		promised.Limit = revised.Limit
		k.Past.Promise(e.Job, promised, revised.Begin, e.BeginBy, revised.Prob >= e.Prob)
	}
	k.memory.setForecast(e.ID, revised.Prob)
	if revised.Submission == current || e.Progress.Held || e.Progress.Yielded || k.memory.postponed(e.ID, now) {
		return nil
	}
	return k.resubmit(ctx, e, c, current, revised.Submission)
}

// resubmit changes a job from one submission to another. The ledger knows of the change
// before Slurm does, and the next look at the queue shows whether it was carried out.
func (k *Keeper) resubmit(ctx context.Context, e *ledger.Entry, c *change, from, to trajectory.Submission) error {
	update := slurm.Update{Job: e.Job}
	c.progress.BeginTime, c.progress.TimeLimit = to.Begin, to.Limit
	if to.Begin != from.Begin {
		update.BeginTime = to.Begin
		c.event(ledger.Moved, "begin time moved from %s to %s", c.moment(from.Begin), c.moment(to.Begin))
	}
	if to.Limit != from.Limit {
		update.TimeLimit = to.Limit
		c.event(ledger.Limited, "time limit changed from %s to %s", slurmtime.FormatDuration(from.Limit), slurmtime.FormatDuration(to.Limit))
	}
	if err := k.record(ctx, e, c); err != nil {
		return err
	}
	if err := k.update(ctx, update, from); err != nil {
		k.memory.postpone(e.ID, c.now)
		return fmt.Errorf("revise the job: %w", err)
	}
	k.Metrics.revisions.Inc()
	return nil
}

// update sends a change to Slurm. The job may have started since the queue was read.
// Slurm then refuses another begin time, but lowers the limit all the same, to less
// than the work needs that began earlier. So a later begin time goes first, and the
// limit follows once Slurm has accepted it.
func (k *Keeper) update(ctx context.Context, u slurm.Update, from trajectory.Submission) error {
	if u.BeginTime > from.Begin {
		if err := k.Slurm.Update(ctx, slurm.Update{Job: u.Job, BeginTime: u.BeginTime}); err != nil {
			return err
		}
		u.BeginTime = 0
	}
	if u.BeginTime == 0 && u.TimeLimit == 0 {
		return nil
	}
	return k.Slurm.Update(ctx, u)
}
