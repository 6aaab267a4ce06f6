package keeper

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/live/ledger"
	"github.com/varq-project/varq/predictor/promise/trajectory"
	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/slurmtime"
	"github.com/varq-project/varq/predictor/workload"
)

// retryAfter is how long a job that could not be changed is left alone, in
// seconds.
const retryAfter = 60

// skew is by how many seconds the clocks of varqd and of Slurm may differ before
// a job that starts in the last moment is taken for late.
const skew = 2

// Watch does for each open reservation what is due, given every pending and running
// job: it binds jobs to plans, follows and revises them, and settles those that are
// over. It returns how many reservations were open. What fails for one reservation
// is logged and does not keep it from the others, except that nothing more is asked
// of a Slurm that does not answer.
//
// Invariant: the clock showed now, Unix seconds, before the queue was read. So a job
// that is pending in the queue had not started by now.
func (k *Keeper) Watch(ctx context.Context, jobs []slurm.QueueEntry, now int64) (open int, err error) {
	if err := k.lock(ctx); err != nil {
		return 0, err
	}
	defer k.unlock()
	entries, err := k.Ledger.Select(ctx, ledger.Query{Open: true})
	if err != nil {
		return 0, err
	}
	k.count(entries)
	q := newQueue(jobs)
	// Jobs in the queue come first: they do not wait for accounting to answer.
	for _, step := range []func(context.Context, *ledger.Entry, *queue, int64) error{k.live, k.ended} {
		for i := range entries {
			e := &entries[i]
			switch err := step(ctx, e, q, now); {
			case ctx.Err() != nil:
				return len(entries), ctx.Err()
			case errors.Is(err, slurm.ErrUnavailable):
				return len(entries), err
			case err != nil:
				k.Log.Error("reservation", "plan", e.ID, "job", e.Job, "error", err)
			}
		}
	}
	return len(entries), nil
}

// queue is Slurm's queue, to be looked up in.
type queue struct {
	byID   map[int64]*slurm.QueueEntry
	byPlan map[string][]*slurm.QueueEntry
}

func newQueue(jobs []slurm.QueueEntry) *queue {
	q := &queue{byID: make(map[int64]*slurm.QueueEntry, len(jobs)), byPlan: map[string][]*slurm.QueueEntry{}}
	for i := range jobs {
		j := &jobs[i]
		q.byID[j.ID] = j
		if plan, ok := api.PlanInComment(j.Comment); ok {
			q.byPlan[plan] = append(q.byPlan[plan], j)
		}
	}
	return q
}

// claimant returns the job that claims the plan: of those of the plan's user
// that name it in their comment, the one submitted first.
func (q *queue) claimant(e *ledger.Entry) *slurm.QueueEntry {
	var first *slurm.QueueEntry
	for _, j := range q.byPlan[e.ID] {
		if j.User == e.User && (first == nil || j.Submit < first.Submit || j.Submit == first.Submit && j.ID < first.ID) {
			first = j
		}
	}
	return first
}

// job returns the live job of a bound reservation, or nil. An id alone proves
// nothing: ids may be used again, and then for anybody's job.
func (q *queue) job(e *ledger.Entry) *slurm.QueueEntry {
	j := q.byID[e.Job]
	if j == nil || !same(e, &j.Job) {
		return nil
	}
	return j
}

// same reports whether j is the job that e is bound to: the same submission, or
// a later one of it after a requeue, which keeps the comment.
func same(e *ledger.Entry, j *workload.Job) bool {
	if j.ID != e.Job || j.User != e.User {
		return false
	}
	if j.Submit == e.Progress.Submit {
		return true
	}
	plan, _ := api.PlanInComment(j.Comment)
	return j.Submit > e.Progress.Submit && plan == e.ID
}

// live does what is due for a reservation whose job is in the queue.
func (k *Keeper) live(ctx context.Context, e *ledger.Entry, q *queue, now int64) error {
	if e.Job == 0 {
		claimant := q.claimant(e)
		if claimant == nil || k.resting(e.ID, now) {
			return nil
		}
		if err := k.bind(ctx, e, &claimant.Job, now); err != nil {
			if errors.Is(err, ledger.ErrJobTaken) {
				k.rest(e.ID, now)
			}
			return err
		}
	}
	j := q.job(e)
	switch {
	case j == nil:
		return nil
	case j.Start == 0:
		return k.pending(ctx, e, j, now)
	default:
		return k.running(ctx, e, &j.Job, now)
	}
}

// ended does what is due for a reservation without a job in the queue.
func (k *Keeper) ended(ctx context.Context, e *ledger.Entry, q *queue, now int64) error {
	switch {
	case e.Job == 0:
		return k.unclaimed(ctx, e, now)
	case q.job(e) == nil:
		return k.gone(ctx, e, now)
	}
	return nil
}

// bind ties e's plan to a job of its user, in the ledger and in e.
func (k *Keeper) bind(ctx context.Context, e *ledger.Entry, j *workload.Job, now int64) error {
	if err := k.Ledger.Bind(ctx, e.ID, j.User, j.ID, j.Submit, now); err != nil {
		return err
	}
	e.Job = j.ID
	e.Progress.Submit = j.Submit
	e.Progress.State = api.StatePending
	k.Log.Info("bound", "plan", e.ID, "job", j.ID, "user", j.User)
	return nil
}

// change collects what is new about a reservation.
type change struct {
	now      int64
	zone     *time.Location
	progress ledger.Progress
	events   []ledger.Event
}

func (k *Keeper) newChange(e *ledger.Entry, now int64) *change {
	return &change{now: now, zone: k.Zone, progress: e.Progress}
}

func (c *change) event(kind ledger.Kind, format string, args ...any) {
	c.events = append(c.events, ledger.Event{At: c.now, Kind: kind, Text: fmt.Sprintf(format, args...)})
}

// moment writes a time for the text of an event. Users in other zones read it too,
// so that it says which zone it is in.
func (c *change) moment(at int64) string { return time.Unix(at, 0).In(c.zone).Format(time.RFC3339) }

// record writes down what is new, if anything is.
func (k *Keeper) record(ctx context.Context, e *ledger.Entry, c *change) error {
	if c.progress == e.Progress && len(c.events) == 0 {
		return nil
	}
	if err := k.Ledger.Record(ctx, e.ID, c.progress, c.events...); err != nil {
		return err
	}
	for _, event := range c.events {
		k.Log.Info(event.Text, "plan", e.ID, "job", e.Job, "kind", event.Kind)
	}
	e.Progress, c.events = c.progress, nil
	return nil
}

// pending attends to a job that waits.
func (k *Keeper) pending(ctx context.Context, e *ledger.Entry, j *slurm.QueueEntry, now int64) error {
	c := k.newChange(e, now)
	c.observe(j)
	if now >= e.BeginBy+skew {
		return k.late(ctx, e, j, c)
	}
	if err := k.record(ctx, e, c); err != nil {
		return err
	}
	return k.revise(ctx, e, &j.Job, now)
}

// observe takes over how a pending job stands, and notices what the user has
// done to it: a job that does not stand as varq has left it has been changed by
// somebody else, and is left alone from then on.
func (c *change) observe(j *slurm.QueueEntry) {
	p := &c.progress
	if j.Submit != p.Submit {
		c.event(ledger.Requeued, "requeued by Slurm")
		p.Submit, p.BeginTime, p.WasBegin = j.Submit, j.Eligible, j.Eligible
		p.TimeLimit, p.WasLimit = j.Limit, j.Limit // varq-wrapper may have trimmed it
		if p.WorkStart == 0 {
			p.Start = 0
		}
	}
	if j.Held != p.Held {
		p.Held = j.Held
		if j.Held {
			c.event(ledger.User, "held")
		} else {
			c.event(ledger.User, "released")
		}
	}
	p.State, p.Eligible = api.StatePending, j.Eligible
	switch {
	case p.Yielded:
	case j.Limit != p.TimeLimit && j.Limit != p.WasLimit:
		p.Yielded = true
		c.event(ledger.User, "the time limit was changed to %s, not by varq; varq leaves the job alone now", slurmtime.FormatDuration(j.Limit))
	case j.Eligible != p.BeginTime && j.Eligible != p.WasBegin && c.moved(j):
		p.Yielded = true
		c.event(ledger.User, "the begin time was changed to %s, not by varq; varq leaves the job alone now", c.moment(j.Eligible))
	case j.Eligible != 0:
		// What varq last asked for has been carried out, or it has not.
		p.TimeLimit, p.WasLimit = j.Limit, j.Limit
		if j.Eligible == p.WasBegin {
			p.BeginTime = p.WasBegin
		}
		p.WasBegin = p.BeginTime
	}
}

// moved reports whether an eligible time other than varq's begin time tells of a
// change. It does not when Slurm says none, as for a held job, nor when both
// have passed: a job submitted late, released or requeued becomes eligible later
// than its begin time.
func (c *change) moved(j *slurm.QueueEntry) bool {
	return j.Eligible != 0 && (j.Eligible > c.now || j.Eligible < c.progress.BeginTime && c.progress.BeginTime > c.now)
}

// late attends to a job that has not started by its deadline.
func (k *Keeper) late(ctx context.Context, e *ledger.Entry, j *slurm.QueueEntry, c *change) error {
	if !c.progress.Late {
		c.progress.Late = true
		c.event(ledger.Note, "not started by the deadline")
	}
	if err := k.record(ctx, e, c); err != nil {
		return err
	}
	if e.OnMiss != api.OnMissCancel || c.progress.WorkStart != 0 || k.resting(e.ID, c.now) {
		return nil
	}
	if err := k.Slurm.Cancel(ctx, j.ID); err != nil && !errors.Is(err, slurm.ErrNotFound) {
		k.rest(e.ID, c.now)
		return fmt.Errorf("cancel at the deadline: %w", err)
	}
	c.event(ledger.Note, lateAndCancelled)
	return k.record(ctx, e, c)
}

// revise plans the reservation of a pending job again, and changes the job if
// there is something to gain. The ledger knows of the change before Slurm does.
//
// Slurm lets an operator, as varqd is, exceed its limits. So those that count are
// the ones for the job as it is, wherever its user has moved it since.
func (k *Keeper) revise(ctx context.Context, e *ledger.Entry, j *workload.Job, now int64) error {
	planner, err := k.planner()
	if err != nil {
		return nil // told by health; the job stands as it was promised
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
	k.setForecast(e.ID, revised.Prob)
	if revised.Submission == current || e.Progress.Held || e.Progress.Yielded || k.resting(e.ID, now) {
		return nil
	}
	c := k.newChange(e, now)
	update := slurm.Update{Job: e.Job}
	p := &c.progress
	p.BeginTime, p.TimeLimit = revised.Begin, revised.Limit
	if revised.Begin != current.Begin {
		update.BeginTime = revised.Begin
		c.event(ledger.Moved, "begin time moved from %s to %s", c.moment(current.Begin), c.moment(revised.Begin))
	}
	if revised.Limit != current.Limit {
		update.TimeLimit = revised.Limit
		c.event(ledger.Limited, "time limit changed from %s to %s", slurmtime.FormatDuration(current.Limit), slurmtime.FormatDuration(revised.Limit))
	}
	if err := k.record(ctx, e, c); err != nil {
		return err
	}
	if err := k.update(ctx, update, current); err != nil {
		// Whether it has been carried out shows the next time.
		k.rest(e.ID, now)
		return fmt.Errorf("revise the job: %w", err)
	}
	k.Metrics.revisions.Inc()
	return nil
}

// update changes a job that stands in the queue as current. It may have started
// meanwhile: then Slurm refuses another begin time, but lowers the limit all the
// same, to less than the work needs that began earlier. So a later begin time
// goes first, and the limit follows once Slurm has accepted it.
func (k *Keeper) update(ctx context.Context, u slurm.Update, current trajectory.Submission) error {
	if u.BeginTime > current.Begin {
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

// running attends to a job that has started.
func (k *Keeper) running(ctx context.Context, e *ledger.Entry, j *workload.Job, now int64) error {
	c := k.newChange(e, now)
	p := &c.progress
	if j.Submit != p.Submit {
		c.event(ledger.Requeued, "requeued by Slurm")
		p.Submit = j.Submit
	}
	if p.WorkStart == 0 {
		p.Eligible, p.Start, p.Held = j.Eligible, j.Start, false
	}
	p.State = api.StateHolding
	if begin := workStart(e, j.Start); now >= begin {
		p.State = api.StateRunning
		if p.WorkStart == 0 {
			p.WorkStart = begin
		}
	}
	return k.record(ctx, e, c)
}

// workStart is when the work of a job begins that starts at start.
func workStart(e *ledger.Entry, start int64) int64 { return max(start, e.HoldUntil) }

func (k *Keeper) setForecast(plan string, prob float64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.forecasts[plan] = prob
}

func (k *Keeper) rest(plan string, now int64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.retry[plan] = now + retryAfter
}

func (k *Keeper) resting(plan string, now int64) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return now < k.retry[plan]
}

// count brings what is remembered of open reservations up to date, and forgets
// the others.
func (k *Keeper) count(open []ledger.Entry) {
	keep := make(map[string]bool, len(open))
	jobless := map[string]int{}
	for i := range open {
		keep[open[i].ID] = true
		if open[i].Job == 0 {
			jobless[open[i].User]++
		}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.jobless = jobless
	for plan := range k.forecasts {
		if !keep[plan] {
			delete(k.forecasts, plan)
		}
	}
	for plan := range k.retry {
		if !keep[plan] {
			delete(k.retry, plan)
		}
	}
}
