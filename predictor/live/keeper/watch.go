package keeper

import (
	"context"
	"errors"
	"iter"
	"maps"
	"slices"

	"github.com/varq-project/varq/predictor/live/course"
	"github.com/varq-project/varq/predictor/live/ledger"
	"github.com/varq-project/varq/predictor/live/look"
	"github.com/varq-project/varq/predictor/slurm"
)

// jobState is the state of a reservation's job in the queue: the job that the reservation is bound
// to or, before it is bound, the job that claims its plan. Several states are joined by |.
type jobState uint8

const (
	absent  jobState = 1 << iota // the queue shows no such job
	waiting                      // the job is pending, and may start in time
	overdue                      // the job is pending skew seconds after its deadline or later
	started                      // the job has started; its work may or may not have begun

	present  = waiting | overdue | started
	anyState = absent | present

	// the queue was read too early to show the job, or the job was not asked for
	unknown jobState = 0
)

// action does what is due for an open reservation. j is its job, or nil if it is absent.
type action func(k *Keeper, ctx context.Context, e *ledger.Entry, j *slurm.QueueEntry, now int64) error

// transition is a row of transitions.
type transition struct {
	bound  bool
	of     promise
	states jobState
	do     action
}

// promise says what is promised about a job. Several are joined by |.
type promise uint8

const (
	begins    promise = 1 << iota // the job's start: BeginBy
	finishes                      // the job's end: FinishBy
	tentative                     // the job's start, if the promise is confirmed in time

	whatever = begins | finishes | tentative
)

// promiseOf returns what e promises.
func promiseOf(e *ledger.Entry) promise {
	switch {
	case e.FinishBy != 0:
		return finishes
	case e.Unconfirmed():
		return tentative
	}
	return begins
}

// transitions say which action is due for an open reservation. A row names whether the reservation
// is bound, what it promises, and the states of its job. The row applies to a reservation if all
// three match. Watch applies a row to all reservations before it goes on to the next row. So
// several rows may apply to one reservation in one Watch.
//
// Two steps follow after the table. First reviseInTurn plans the waiting jobs again, one after
// another, those that the table has just bound included. Last come the jobs that are absent:
// settleGone asks accounting, which may be slow.
var transitions = []transition{
	{false, whatever, present, (*Keeper).bindClaimant},
	{true, tentative, present, (*Keeper).followTentative},
	{true, begins, anyState, (*Keeper).followGroup},
	{true, begins, started, (*Keeper).noteStart},
	{true, whatever, waiting | overdue, (*Keeper).settleNever},
	{true, begins, waiting | overdue, (*Keeper).release},
	{true, begins, overdue, (*Keeper).noteLate},
	{true, finishes, present, (*Keeper).followCompletion},
	{true, finishes, waiting, (*Keeper).advance},
	{false, whatever, absent, (*Keeper).settleWithdrawn},
	{false, whatever, anyState, (*Keeper).expire}, // present if bindClaimant could not bind the job
}

// gone is the row for settleGone, which is called once for all reservations.
var gone = transition{bound: true, of: whatever, states: absent}

// planned is the row for reviseInTurn, which comes after transitions.
var planned = transition{true, begins, waiting, (*Keeper).revise}

// Watch brings each open reservation up to date with the queue, by the table transitions.
// l has all pending and running jobs.
//
// If an action fails for one reservation, Watch logs the error and goes on. It stops, and returns
// the error, if the ledger cannot be read, if Slurm does not answer, or if ctx is done.
//
// The queue may have been read before a job was submitted that is bound since: such a job is not
// absent, but unknown. And it may have been read before Accept changed a job: for such a job
// nothing is done.
func (k *Keeper) Watch(ctx context.Context, l *look.Look) error {
	return k.watch(ctx, course.NewQueue(l), l.At)
}

// ErrEnough says that no more jobs are to be read now.
var ErrEnough = errors.New("enough jobs were read")

// WatchBound is Watch without the queue. It reads only jobs that reservations are bound to and
// whose work has not begun. It reads them with read, which is like Slurm.Job and may return
// ErrEnough. Urgent jobs come first, and jobs of equal urgency take turns. Other reservations are
// left to the next Watch. The caller must read now from the clock before.
func (k *Keeper) WatchBound(ctx context.Context, now int64, read func(ctx context.Context, id int64) (slurm.QueueEntry, error)) error {
	q, err := k.readBound(ctx, now, read)
	if err != nil {
		return err
	}
	return k.watch(ctx, q, now)
}

// boundAtOnce is the greatest number of jobs for which one WatchBound asks Slurm. Each takes a
// request of its own, which costs slurmrestd several times as much as a job of the whole queue.
const boundAtOnce = 100

// readBound reads the jobs for WatchBound. It does not hold the lock meanwhile, because Slurm may
// be slow.
func (k *Keeper) readBound(ctx context.Context, now int64, read func(context.Context, int64) (slurm.QueueEntry, error)) (*course.Queue, error) {
	entries, err := k.Ledger.Open(ctx, nil)
	if err != nil {
		return nil, err
	}
	var jobs []slurm.QueueEntry
	asked := map[int64]bool{}
	entries = slices.DeleteFunc(entries, func(e ledger.Entry) bool { return e.Job == 0 || e.Tasks > 0 || e.Progress.WorkStart != 0 })
	for u, e := range k.inTurn(entries, now) {
		if len(asked) == boundAtOnce {
			break
		}
		j, err := read(ctx, e.Job)
		if errors.Is(err, ErrEnough) {
			break
		}
		k.memory.hadTurn(u, e.Job)
		switch {
		case err == nil:
			jobs = append(jobs, j)
		case errors.Is(err, slurm.ErrNotFound):
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case errors.Is(err, slurm.ErrUnavailable):
			return nil, err
		default:
			k.Log.Error("reservation", "plan", e.ID, "job", e.Job, "error", err)
			continue
		}
		asked[e.Job] = true
	}
	return course.PartOfQueue(look.New(jobs, now), asked), nil
}

// inTurn yields bound reservations: the most urgent first. Reservations of equal urgency take
// turns.
func (k *Keeper) inTurn(entries []ledger.Entry, now int64) iter.Seq2[urgency, ledger.Entry] {
	byUrgency := make([][]ledger.Entry, urgencies)
	for i := range entries {
		u := k.urgencyOf(&entries[i], now)
		byUrgency[u] = append(byUrgency[u], entries[i])
	}
	return func(yield func(urgency, ledger.Entry) bool) {
		for u := range urgencies {
			for _, e := range k.memory.inTurn(u, byUrgency[u]) {
				if !yield(u, e) {
					return
				}
			}
		}
	}
}

// urgency is how soon a job is to be read; the lowest comes first.
type urgency int

const (
	changeOverdue urgency = iota // varq is to move or cancel it, and this is overdue
	deadlineNear                 // its deadline is near
	notUrgent
	urgencies // the number of urgencies
)

// nearDeadline is the number of seconds before and after a deadline in which the deadline is near.
const nearDeadline = 60

// urgencyOf returns how soon the job of a bound reservation is to be read.
func (k *Keeper) urgencyOf(e *ledger.Entry, now int64) urgency {
	p := &e.Progress
	unmoved := e.Tentative != 0 && p.WasBegin == e.SubmitBegin() && !p.Yielded && !p.Held && p.Stopped == ""
	switch {
	case p.Start != 0, k.memory.postponed(e.ID, now):
	case e.Unconfirmed() && (now > e.Tentative || e.Withdrawn != 0), !e.Unconfirmed() && unmoved:
		return changeOverdue
	case now >= e.Deadline()-nearDeadline && now <= e.Deadline()+nearDeadline:
		return deadlineNear
	}
	return notUrgent
}

// watch applies transitions to each open reservation, plans waiting jobs again, and settles the
// reservations whose jobs are gone.
func (k *Keeper) watch(ctx context.Context, q *course.Queue, now int64) error {
	if err := k.askHomes(ctx, now); err != nil {
		return err
	}
	if err := k.claimUnasked(ctx, now); err != nil {
		return err
	}
	if err := k.tellHomes(ctx, now); err != nil {
		return err
	}
	entries, err := k.apply(ctx, q, now)
	if err != nil {
		return err
	}
	if err := k.reviseInTurn(ctx, q, entries, now); err != nil {
		return err
	}
	if len(gone.due(q, entries, now)) == 0 {
		return nil
	}
	if err := k.lock(ctx); err != nil {
		return err
	}
	defer k.unlock()
	if entries, err = k.Ledger.Open(ctx, nil); err != nil {
		return err
	}
	return k.settleGone(ctx, gone.due(q, entries, now), now)
}

// apply applies transitions to each open reservation, and returns the open reservations.
func (k *Keeper) apply(ctx context.Context, q *course.Queue, now int64) ([]ledger.Entry, error) {
	if err := k.lock(ctx); err != nil {
		return nil, err
	}
	defer k.unlock()
	entries, err := k.Ledger.Open(ctx, nil)
	if err != nil {
		return nil, err
	}
	k.memory.retain(entries, now)
	k.members.homes.retain(entries)
	if err := k.noteArrays(ctx, q, entries); err != nil {
		return nil, err
	}
	for _, t := range transitions {
		for _, d := range t.due(q, entries, now) {
			if !d.e.Open || k.memory.changedSince(d.e.ID, now) { // by now
				continue
			}
			if err := k.failed(ctx, d.e, t.do(k, ctx, d.e, d.j, now)); err != nil {
				return nil, err
			}
		}
	}
	if k.memory.tidies(now) {
		if err := k.Ledger.Forget(ctx, now); err != nil {
			k.Log.Error("ledger", "error", err)
		}
	}
	claims, err := k.Ledger.Claims(ctx, now)
	if err != nil {
		return nil, err
	}
	k.Desk.ObserveRunning(claims)
	if q.Whole() {
		promised := make(map[int64]bool, len(entries))
		for i := range entries {
			if e := &entries[i]; e.Open {
				promised[e.Job] = true
			}
		}
		k.Desk.ObservePlain(maps.Values(q.ByID), promised, now)
		k.Desk.ObserveQueue(q.ByID)
		if err := k.cancelStrays(ctx, q, entries, now); err != nil {
			return nil, err
		}
		if err := k.refuseLatecomers(ctx, q, entries, now); err != nil {
			return nil, err
		}
		k.Desk.JobsBound(now)
	}
	return entries, nil
}

// failed logs the error of an action for e. It returns an error that must stop Watch.
func (k *reservations) failed(ctx context.Context, e *ledger.Entry, err error) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, slurm.ErrUnavailable):
		return err
	case errors.Is(err, errMeanwhile): // the next Watch sees what has changed
	case err != nil:
		k.Log.Error("reservation", "plan", e.ID, "job", e.Job, "error", err)
	}
	return nil
}

// duty is a reservation for which an action is due, and its job, or nil if it is absent.
type duty struct {
	e *ledger.Entry
	j *slurm.QueueEntry
}

// due returns the reservations to which t applies now.
func (t *transition) due(q *course.Queue, entries []ledger.Entry, now int64) (due []duty) {
	for i := range entries {
		e := &entries[i]
		if !e.Open || t.bound != (e.Job != 0) || t.of&promiseOf(e) == 0 {
			continue
		}
		if j, state := stateOf(q, e, now); t.states&state != 0 {
			due = append(due, duty{e, j})
		}
	}
	return due
}

// stateOf returns e's job and the job's state. The job is nil if q does not have it.
func stateOf(q *course.Queue, e *ledger.Entry, now int64) (*slurm.QueueEntry, jobState) {
	j := q.Find(e)
	switch {
	case !q.Shows(e), j == nil && e.Job != 0 && e.Progress.Submit >= now-course.Skew:
		return nil, unknown
	case j == nil:
		return nil, absent
	case j.Start != 0:
		return j, started
	case now >= e.Deadline()+course.Skew:
		return j, overdue
	default:
		return j, waiting
	}
}
