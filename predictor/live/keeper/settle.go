package keeper

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/live/course"
	"github.com/varq-project/varq/predictor/live/desk"
	"github.com/varq-project/varq/predictor/live/ledger"
	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/workload"
)

// lostAfter is the number of seconds after its latest planned end after which a job counts as lost,
// if it is not in the queue and accounting does not show its end.
const lostAfter = 86400

// expire settles a plan without a job once it is expired. The note "never submitted" is also given
// if a job in the queue claims the plan but cannot be bound, because it is bound to another plan.
//
// There may be many such plans. So the first call in a Watch settles them all at once, up to
// maxExpired, and the other calls find nothing left to do.
func (k *settler) expire(ctx context.Context, e *ledger.Entry, _ *slurm.QueueEntry, now int64) error {
	if !k.expired(e) {
		return nil
	}
	expired := k.memory.takeExpired(k.expired)
	if len(expired) == 0 {
		return nil
	}
	plans := make([]string, len(expired))
	for i, other := range expired {
		plans[i] = other.ID
	}
	const why = "never submitted"
	s := ledger.Settlement{At: now, Outcome: api.StateCancelled}
	if err := k.Ledger.SettleAll(ctx, plans, s, ledger.Event{At: now, Kind: ledger.Note, Text: why}); err != nil {
		return err
	}
	for _, other := range expired {
		other.Open = false
		k.Metrics.settled(other, &s)
		k.Log.Info("settled", "plan", other.ID, "user", other.User, "outcome", s.Outcome, "why", why)
	}
	return nil
}

// expired reports whether it is too late for a job of the plan to come. A tentative plan is too
// late once it should have been confirmed. Any other is too late Grace after its begin time and
// after the promise, but not before accounting has been read up to that time, because a job of the
// plan may have ended before the queue showed it.
func (k *settler) expired(e *ledger.Entry) bool {
	if e.Unconfirmed() {
		return k.Now() > e.Tentative+desk.Latecomer
	}
	return k.Outlook.Covered() >= max(e.BeginTime, e.Promised)+k.Grace
}

// The greatest numbers of jobs for which settleGone asks accounting in one Watch: in one request
// for all of them or, where that fails, in one request for each. So jobs that leave the queue
// neither keep the keeper from others nor slurmrestd busy.
const (
	goneAtOnce   = 500
	goneOneByOne = 10
)

// settleGone settles reservations whose jobs are not in the queue, once accounting shows how the
// jobs ended. If there are many, each Watch settles a different part. If accounting fails for a
// list of jobs, they are asked for one by one for a while. A job for which accounting fails is not
// asked for again for a while, so that the other jobs are settled.
func (k *settler) settleGone(ctx context.Context, due []duty, now int64) error {
	due = slices.DeleteFunc(due, func(d duty) bool { return !d.e.Open || k.memory.postponed(d.e.ID, now) })
	if len(due) > 1 && k.memory.listing(now) {
		some := someOf(due, goneAtOnce, now)
		ids := make([]int64, len(some))
		for i, d := range some {
			ids[i] = d.e.Job
		}
		runs, err := k.Slurm.AccountedAll(ctx, ids)
		if err == nil {
			for _, d := range some {
				if err := k.failed(ctx, d.e, k.settleAbsent(ctx, d.e, runs[d.e.Job], now)); err != nil {
					return err
				}
			}
			return nil
		}
		k.memory.stopListing(now)
		k.Log.Info("accounting does not tell of several jobs at once", "jobs", len(ids), "error", err)
	}
	for _, d := range someOf(due, goneOneByOne, now) {
		runs, err := k.runsOf(ctx, d.e)
		if err != nil {
			k.memory.postpone(d.e.ID, now)
		} else {
			err = k.settleAbsent(ctx, d.e, runs, now)
		}
		if err := k.failed(ctx, d.e, err); err != nil {
			return err
		}
	}
	return nil
}

// runsOf returns the runs of a job that is not in the queue, as accounting shows them. Where that
// fails, slurmctld may still show that the job was cancelled before it started. The promise is
// settled by that, so that others have its room; accounting corrects the settlement later.
func (k *settler) runsOf(ctx context.Context, e *ledger.Entry) ([]workload.Job, error) {
	runs, err := k.Slurm.Accounted(ctx, e.Job)
	if err == nil {
		return runs, nil
	}
	run, unseen := k.Slurm.Ended(ctx, e.Job)
	if unseen == nil && e.Tasks == 0 && e.Progress.Start == 0 && run.Start == 0 && run.State == workload.Cancelled && course.IsJobOf(e, &run) {
		return []workload.Job{run}, nil
	}
	return nil, fmt.Errorf("look up the job in accounting: %w", err)
}

// someOf returns at most n of due, and different ones at different times.
func someOf(due []duty, n int, now int64) []duty {
	if len(due) <= n {
		return due
	}
	first := int(now % int64(len(due)))
	return slices.Concat(due[first:], due[:first])[:n]
}

// settleAbsent settles a reservation whose job is not in the queue. runs are the job's runs in
// accounting, oldest first.
func (k *settler) settleAbsent(ctx context.Context, e *ledger.Entry, runs []workload.Job, now int64) error {
	if e.Group != "" && !e.Unconfirmed() && e.Progress.Gate == "" && !k.homes.fateKnown(e, now) {
		return nil // it is not known yet whether its work ran
	}
	if e.Tasks > 0 {
		return k.settleArray(ctx, e, runs, now)
	}
	if err := k.noteRuns(ctx, e, runs, now); err != nil {
		return err
	}
	last := lastRun(e, runs)
	if last != nil && course.Ended(e, last) {
		s, why := course.Judge(e, last, now)
		return k.settle(ctx, e, s, why)
	}
	replaced := replaced(e, runs)
	if now < e.Deadline()+e.TimeLimit+lostAfter && !replaced {
		return k.noteVanished(ctx, e, now) // accounting may lag behind the queue
	}
	s, why := course.JudgeLost(e, now)
	switch {
	case why != "":
	case replaced:
		why = "Slurm has lost the job, and given its number to another"
	case last != nil:
		why = "Slurm has lost the job: it has left the queue, but accounting knows of no end"
	default:
		why = "Slurm has no trace of the job"
	}
	return k.settle(ctx, e, s, why)
}

// vanishedAfter is the number of seconds after which Slurm counts as having forgotten a job that
// neither the queue nor accounting shows.
const vanishedAfter = 60

// vanishedJob is the note of a job that Slurm has forgotten.
const vanishedJob = "Slurm no longer knows the job, as if slurmctld had been killed before it saved it; submit the job again"

// noteVanished tells the user of a job that had not started, is not in the queue, and has no end
// in accounting. The reservation is not settled yet: if the job has ended after all, accounting
// will show it.
func (k *settler) noteVanished(ctx context.Context, e *ledger.Entry, now int64) error {
	if e.Progress.Start != 0 || now < k.memory.absentSince(e.ID, now)+vanishedAfter {
		return nil
	}
	// Another job may have its number now.
	if j, err := k.Slurm.Job(ctx, e.Job); err == nil && course.IsQueued(e, &j) || err != nil && !errors.Is(err, slurm.ErrNotFound) {
		return err
	}
	k.memory.foresee(e.ID, 0, obstacle{says: vanishedJob}, 0)
	k.warn(e, 0, vanishedJob, 0)
	if e.Note == vanishedJob {
		return nil
	}
	c := k.newChange(e, now)
	c.Event(ledger.Note, vanishedJob)
	if err := k.record(ctx, e, c); err != nil {
		return err
	}
	e.Note = vanishedJob
	return nil
}

// replaced reports whether a later job in runs has the number of e's job. A slurmctld that was
// killed before it had saved a job does not know the job any more, and gives its number again. A
// job of the same user that names no plan may be e's, requeued: not all jobs in accounting have a
// comment.
func replaced(e *ledger.Entry, runs []workload.Job) bool {
	return slices.ContainsFunc(runs, func(run workload.Job) bool {
		plan, named := api.PlanInComment(run.Comment)
		return run.Submit > e.Progress.Submit && (run.User != e.User || named && plan != e.ID)
	})
}

// lastRun returns the last run of e's job, or nil. runs are in order, oldest first, and may contain
// other jobs with the same id. If a run has ended after a later run was submitted, it is the last:
// slurmctld was killed, has forgotten the later run, and went on with this one.
func lastRun(e *ledger.Entry, runs []workload.Job) (last *workload.Job) {
	for i := range runs {
		run := &runs[i]
		if course.IsJobOf(e, run) && (last == nil || !course.Ended(e, last) || last.End <= run.Submit+course.Skew) {
			last = run
		}
	}
	return last
}

// ObserveAccounting takes in jobs newly read from accounting, and settles the reservations of jobs
// that have ended. A job that names a plan in its comment, but that Watch has never seen in the
// queue, is bound first. A repeated job changes nothing, unless accounting has changed its data:
// then the settlement is corrected.
func (k *settler) ObserveAccounting(ctx context.Context, jobs []workload.Job) error {
	now := k.Now()
	for i := range jobs {
		j := &jobs[i]
		plan, ok := api.PlanInComment(j.Comment)
		if !ok || !j.State.Finished() || course.NeverAccepted(j) {
			continue
		}
		if err := k.settleEnded(ctx, plan, j, now); err != nil {
			return err
		}
	}
	return nil
}

// settleEnded settles the reservation of a plan. j has ended, or was requeued, and its comment
// names the plan.
func (k *settler) settleEnded(ctx context.Context, plan string, j *workload.Job, now int64) error {
	if err := k.lock(ctx); err != nil {
		return err
	}
	defer k.unlock()
	entries, err := k.Ledger.Select(ctx, ledger.Query{Plan: plan, User: j.User})
	if err != nil || len(entries) == 0 {
		return err
	}
	e := &entries[0]
	switch {
	case e.Tasks > 0:
		return k.bindPast(ctx, e, j)
	case !e.Open:
		return k.correct(ctx, e, j, now)
	}
	if e.Group != "" && !e.Unconfirmed() && e.Progress.Gate == "" {
		return nil // Watch settles it after it has asked whether the work ran
	}
	if e.Job == 0 {
		if why := course.Unlike(e, j); why != "" {
			k.Log.Warn("a past job is not the job that was promised", "plan", plan, "job", j.ID, "why", why)
			return nil
		}
		if e.Withdrawn != 0 && e.Tentative == 0 {
			return nil // others may have been promised its room
		}
		if err := k.bind(ctx, e, j, true); err != nil {
			k.Log.Warn("a past job could not be bound", "plan", plan, "job", j.ID, "error", err)
			return nil
		}
	}
	runs := []workload.Job{*j}
	if e.Progress.HeldBefore != 0 || e.Progress.WorkedBefore != 0 || e.Progress.Submit != j.Submit {
		if runs, err = k.Slurm.Accounted(ctx, j.ID); err != nil {
			return fmt.Errorf("look up the runs of job %d: %w", j.ID, err)
		}
	}
	if err := k.noteRuns(ctx, e, runs, now); err != nil {
		return err
	}
	// Slurm requeues a job that is evicted; if not, it will have left the queue
	if !course.IsJobOf(e, j) || !course.Ended(e, j) || j.Evicted {
		return nil
	}
	s, why := course.Judge(e, j, now)
	return k.settle(ctx, e, s, why)
}

// noteRuns records what accounting shows and the queue has not shown about the runs of e's job,
// oldest first: that somebody else had moved the job, that a run kept the promise, and for how long
// the nodes idled, or the job worked, in earlier runs.
func (k *settler) noteRuns(ctx context.Context, e *ledger.Entry, runs []workload.Job, now int64) error {
	c := k.newChange(e, now)
	p := &c.Progress
	for i := range runs {
		if run := &runs[i]; p.Start == 0 && run.Start != 0 && course.IsRunOf(e, run) {
			c.ObserveEligible(run.Submit, run.Eligible)
		}
	}
	last := lastRun(e, runs)
	if !course.SeenKept(e) {
		for i := range runs {
			if run := &runs[i]; course.KeptBy(e, run) {
				course.NoteKept(e, p, run)
				last = run
				break
			}
		}
		if last != nil {
			held, worked := before(e, last, runs)
			p.HeldBefore = max(p.HeldBefore, held)
			if e.FinishBy != 0 {
				p.WorkedBefore = max(p.WorkedBefore, worked)
			}
		}
	}
	return k.record(ctx, e, c)
}

// before returns for how many seconds the nodes of e's job idled in the runs before last, and for
// how many seconds these runs worked.
func before(e *ledger.Entry, last *workload.Job, runs []workload.Job) (held, done int64) {
	for i := range runs {
		if run := &runs[i]; run.ID == last.ID && run.User == e.User && e.Promised <= run.Submit && run.Submit < last.Submit {
			held += course.Idle(run.Start, run.End, e.HoldUntil)
			done += course.Worked(run.Start, run.End)
		}
	}
	return held, done
}

// correct judges a settled promise again by j, and replaces the settlement if it differs. j must
// meet one of three conditions: the promise was judged by j, the promise was judged by no run, or j
// kept the promise. A later run of a job that was requeued after all does not change the outcome.
func (k *settler) correct(ctx context.Context, e *ledger.Entry, j *workload.Job, now int64) error {
	judged := e.Run == 0 || e.Run == j.Submit
	kept := e.State != api.StateKept && course.KeptBy(e, j)
	if e.Job == 0 || !kept && (!judged || !course.IsJobOf(e, j) || !course.Ended(e, j)) {
		return nil
	}
	if kept {
		course.NoteKept(e, &e.Progress, j)
	}
	s, why := course.Judge(e, j, now)
	if !judged {
		s.End, s.Run = e.End, e.Run
	}
	if s.Outcome == e.State && s.Start == e.Start && s.WorkStart == e.WorkStart && s.End == e.End {
		return nil
	}
	var events []ledger.Event
	if s.Outcome != e.State {
		text := fmt.Sprintf("%s, not %s, as accounting says later", s.Outcome, e.State)
		if why != "" {
			text += ": " + why
		}
		events = append(events, ledger.Event{At: now, Kind: ledger.Note, Text: text})
	}
	if err := k.Ledger.Correct(ctx, e.ID, s, events...); err != nil {
		return err
	}
	k.Metrics.corrected.WithLabelValues(strings.ToLower(s.Outcome)).Inc()
	k.Log.Info("corrected", "plan", e.ID, "job", e.Job, "user", e.User, "outcome", s.Outcome, "was", e.State)
	return nil
}

// settleNever settles the reservation of a job that never starts, as the jobs that it waits for did
// not end as it needs. The forecast of what is promised allows for that.
func (k *settler) settleNever(ctx context.Context, e *ledger.Entry, j *slurm.QueueEntry, now int64) error {
	if !j.NeverStarts() {
		return nil
	}
	s := ledger.Settlement{At: now, Outcome: api.StateMissed}
	if e.Progress.Yielded {
		s.Outcome = api.StateCancelled
	}
	return k.settle(ctx, e, s, fmt.Sprintf("%s (%s)", course.NeverStarts, j.Dependency))
}

// settle closes a reservation in the ledger. why is the note for the user; there is none if why is
// empty.
func (k *reservations) settle(ctx context.Context, e *ledger.Entry, s ledger.Settlement, why string) error {
	var events []ledger.Event
	if why != "" {
		events = append(events, ledger.Event{At: s.At, Kind: ledger.Note, Text: why})
	}
	if err := k.Ledger.Settle(ctx, e.ID, s, events...); err != nil {
		return err
	}
	e.Open = false
	k.Metrics.settled(e, &s)
	k.tellSettled(e, s.Outcome, why)
	k.Log.Info("settled", "plan", e.ID, "job", e.Job, "user", e.User, "outcome", s.Outcome, "why", why)
	return nil
}
