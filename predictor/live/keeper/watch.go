package keeper

import (
	"context"
	"errors"

	"github.com/varq-project/varq/predictor/live/ledger"
	"github.com/varq-project/varq/predictor/slurm"
)

// skew is by how many seconds the clocks of varqd and of Slurm may differ. A job that
// starts in the last moment is not taken for late within it.
const skew = 2

// sight is what the queue shows of the job that a reservation is bound to or, before
// it is bound, of the job that claims its plan.
type sight uint8

const (
	absent  sight = 1 << iota // there is no such job
	waiting                   // it is pending, and may start in time
	overdue                   // it is pending, and its deadline has passed
	started                   // it holds its nodes, or its work runs

	present  = waiting | overdue | started
	anything = absent | present
)

// action does what is due for an open reservation, given its job; nil if there is
// none.
type action func(k *Keeper, ctx context.Context, e *ledger.Entry, j *slurm.QueueEntry, now int64) error

// transitions are what a look at the queue does to an open reservation. Each row is
// applied to all reservations before the next, so that one reservation may go through
// several: a job is followed as soon as it is bound. Accounting comes last: the jobs
// that are in the queue do not wait for its answers.
var transitions = []struct {
	bound bool
	seen  sight // any of these
	do    action
}{
	{false, present, (*Keeper).claim},
	{true, started, (*Keeper).run},
	{true, overdue, (*Keeper).late},
	{true, waiting, (*Keeper).revise},
	{false, anything, (*Keeper).expire}, // also if a job claims the plan, but cannot be bound
	{true, absent, (*Keeper).gone},
}

// Watch brings each open reservation up to date with the queue, which is every pending
// and running job: see transitions. It returns how many reservations were open.
//
// What fails for one reservation is logged, and does not keep it from the others. Only
// a Slurm that does not answer ends the Watch, with an error.
//
// Invariant: the clock showed now before the queue was read. So a job that is pending
// in the queue had not started by now.
func (k *Keeper) Watch(ctx context.Context, jobs []slurm.QueueEntry, now int64) (open int, err error) {
	if err := k.lock(ctx); err != nil {
		return 0, err
	}
	defer k.unlock()
	entries, err := k.Ledger.Select(ctx, ledger.Query{Open: true})
	if err != nil {
		return 0, err
	}
	k.memory.keep(entries)
	q := newQueue(jobs)
	for _, t := range transitions {
		for i := range entries {
			e := &entries[i]
			j := q.find(e)
			if t.bound != (e.Job != 0) || t.seen&look(e, j, now) == 0 {
				continue
			}
			switch err := t.do(k, ctx, e, j, now); {
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

// look returns what is seen of e's job.
func look(e *ledger.Entry, j *slurm.QueueEntry, now int64) sight {
	switch {
	case j == nil:
		return absent
	case j.Start != 0:
		return started
	case now >= e.BeginBy+skew:
		return overdue
	default:
		return waiting
	}
}
