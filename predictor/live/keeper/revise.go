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

// revise plans the reservation of a pending job again, and changes the job if the new plan
// is better.
//
// varqd is an operator, and Slurm does not enforce limits on operators' changes. So the
// keeper checks them itself, for the job's present partition, account and QOS.
func (k *Keeper) revise(ctx context.Context, e *ledger.Entry, j *slurm.QueueEntry, now int64) error {
	c := k.newChange(e, now)
	c.observe(j)
	if err := k.record(ctx, e, c); err != nil {
		return err
	}
	planner, err := k.planner()
	if err != nil {
		return nil // the job stays as it is; varqd's health says why
	}
	if _, ok := planner.Cluster.Partitions[j.Partition]; !ok {
		return nil // a list of partitions, or a partition newer than the last Refresh
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
		k.Outlook.Promise(e.Job, promised, revised.Begin, e.BeginBy, revised.Prob >= e.Prob)
	}
	k.memory.setForecast(e.ID, revised.Prob)
	if revised.Submission == current || e.Progress.Held || e.Progress.Yielded || k.memory.postponed(e.ID, now) {
		return nil
	}
	return k.changeJob(ctx, e, c, current, revised.Submission)
}

// changeJob changes the begin time and the time limit of a job. It writes the change into
// the ledger first, and then sends it to Slurm. The next Watch sees in the queue whether
// Slurm has made the change.
func (k *Keeper) changeJob(ctx context.Context, e *ledger.Entry, c *change, from, to trajectory.Submission) error {
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

// update sends a change to Slurm. If the job has started since the queue was read, Slurm
// refuses the new begin time but lowers the limit nevertheless. The lower limit would be
// too short, as the job started before the new begin time. So update sends a later begin
// time alone, and sends the limit only after Slurm has accepted the begin time.
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
