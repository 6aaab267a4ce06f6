package keeper

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/live/course"
	"github.com/varq-project/varq/predictor/live/desk"
	"github.com/varq-project/varq/predictor/live/ledger"
	"github.com/varq-project/varq/predictor/prob"
	"github.com/varq-project/varq/predictor/slurm"
)

// The longest times that Accept waits for the lock, and takes to move the job.
const (
	acceptWaits = 5 * time.Second
	acceptMoves = 10 * time.Second
)

// Accept raises the ceiling on the cost of idle nodes of user's reservation to what would keep its
// promise now, and moves the job. a.Worst is the cost that the user has been shown. If the new
// ceiling costs more, or does not help any more, Accept changes nothing. The errors are faults of
// package api.
func (k *reviser) Accept(ctx context.Context, user string, a api.Acceptance) (api.Accepted, error) {
	var none api.Accepted
	if k.Desk.Shadow {
		return none, api.Fault(api.ErrConflict, desk.OnlyWatches)
	}
	waiting, cancel := context.WithTimeout(ctx, acceptWaits)
	defer cancel()
	if err := k.lock(waiting); err != nil {
		return none, api.Fault(api.ErrUnavailable, "varqd is busy with other reservations; nothing is changed, try again")
	}
	defer k.unlock()
	entries, err := k.Ledger.Select(ctx, ledger.Query{User: user, Job: a.Job, Open: true})
	if err != nil {
		return none, err
	}
	if len(entries) == 0 {
		return none, api.Fault(api.ErrNotFound, fmt.Sprintf("you have no open reservation for job %d", a.Job))
	}
	e := &entries[0]
	offer := k.memory.prospect(e.ID).rescue
	if offer == nil {
		return none, api.Fault(api.ErrConflict, k.unneeded(ctx, e)+"; nothing is changed")
	}
	worst := e.Idle(offer.earliest)
	if a.Worst.NodeSeconds > 0 && worst.NodeSeconds > a.Worst.NodeSeconds {
		return none, api.Fault(api.ErrConflict, fmt.Sprintf("by now it would take up to %s, more than you accept; nothing is changed", worst.RoundedUp()))
	}
	now := k.Now()
	if why := k.hopeless(ctx, e, offer.earliest, now); why != "" {
		k.memory.setRescue(e.ID, nil)
		return none, api.Fault(api.ErrConflict, fmt.Sprintf("by now more would not help job %d: %s; nothing is changed", e.Job, why))
	}
	err = k.Desk.WithinCost(ctx, e, worst, func() error {
		c := k.newChange(e, now)
		c.Progress.Earliest = offer.earliest
		c.Event(ledger.Agreed, "%s agreed that idle nodes cost up to %s", user, worst.RoundedUp())
		return k.record(ctx, e, c)
	})
	if err != nil {
		return none, err
	}
	k.memory.setRescue(e.ID, nil)
	err = k.reviseNow(ctx, e, now)
	p := &e.Progress // the queue must show the change before the old values are forgotten
	accepted := api.Accepted{Reservation: k.Describe(e), Moved: err == nil && (p.BeginTime != p.WasBegin || p.TimeLimit != p.WasLimit)}
	if !accepted.Moved {
		accepted.Unmoved = k.unmoved(e, err, now)
	}
	return accepted, nil
}

// unneeded tells the user why there is nothing to accept for e.
func (k *reviser) unneeded(ctx context.Context, e *ledger.Entry) string {
	prospect := k.memory.prospect(e.ID)
	now, obstacle := prospect.prob, prospect.obstacle.reason()
	switch {
	case e.FinishBy != 0:
		return fmt.Sprintf("it is the end of job %d that is promised, and idle nodes would not change it", e.Job)
	case e.Progress.Yielded:
		return fmt.Sprintf("somebody has changed job %d, so varq leaves it alone", e.Job)
	case obstacle != "":
		return fmt.Sprintf("more would not help job %d: %s", e.Job, obstacle)
	case !prospect.known:
		return fmt.Sprintf("job %d needs no more than you have agreed to, or more would not help", e.Job)
	case !prob.Short(now, e.Prob):
		return fmt.Sprintf("job %d needs no more than you have agreed to: it starts by the deadline with probability %s", e.Job, prob.Format(now))
	case k.Now() >= e.Progress.BeginTime:
		return fmt.Sprintf("more would not help job %d: it waits for its nodes already, and cannot be moved any more", e.Job)
	}
	if why := k.hopeless(ctx, e, e.Progress.Earliest, k.Now()); why != "" {
		return fmt.Sprintf("more would not help job %d: %s", e.Job, why)
	}
	return fmt.Sprintf("what job %d needs has changed just now; ask again in a minute", e.Job)
}

// reviseNow is revise with the job as it is now, without waiting for Watch. It goes on even if ctx
// is done, so that a user who does not wait for the answer does not interrupt it.
func (k *reviser) reviseNow(ctx context.Context, e *ledger.Entry, now int64) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), acceptMoves)
	defer cancel()
	j, err := k.Slurm.Job(ctx, e.Job)
	switch {
	case err != nil:
		return err
	case !course.IsQueued(e, &j), j.Start != 0:
		return slurm.ErrNotFound
	}
	k.memory.retryAt(e.ID, now)
	k.memory.changeNow(e.ID, now)
	return k.revise(ctx, e, &j, now)
}

// unmoved tells the user why reviseNow, which has returned err, has not moved the job of e, and
// when varqd will move it.
func (k *reviser) unmoved(e *ledger.Entry, err error, now int64) string {
	p, ready := &e.Progress, k.Desk.Premises.Ready()
	prospect := k.memory.prospect(e.ID)
	switch {
	case errors.Is(err, slurm.ErrNotFound):
		return "the job does not wait in the queue any more"
	case p.Held, p.Stopped != "":
		return "the job is held; varqd moves it once it is released"
	case p.Yielded:
		return "somebody has changed the job, so varqd leaves it alone"
	case err == nil && !prob.Short(prospect.prob, e.Prob):
		return "by now it need not be moved"
	case k.memory.limitsFrozen(now):
		return "Slurm does not let varqd change time limits; ask your administrator to run varq doctor"
	case errors.Is(err, slurm.ErrUnavailable), errors.Is(err, context.DeadlineExceeded):
		return "Slurm does not answer now; varqd tries again within a minute"
	case errors.Is(err, errMeanwhile):
		return "the queue has changed just now; varqd looks again within some seconds"
	case err != nil:
		k.Log.Error("accept", "plan", e.ID, "job", e.Job, "error", err)
		return "Slurm has refused the change; varqd tries again in a minute"
	case ready != nil:
		return ready.Error() + "; varqd moves the job as soon as it can"
	case k.Outlook.Learning():
		return "varqd is still learning from older jobs; varqd moves the job as soon as it can"
	case now >= p.BeginTime:
		return "it waits for its nodes already, and cannot be moved any more"
	case prospect.rescue != nil:
		more := prospect.rescue
		return fmt.Sprintf("by now that is too little: with %s it would start in time with probability %s; varq accept %d agrees to that", e.Idle(more.earliest).RoundedUp(), prob.Format(more.prob), e.Job)
	default:
		return "by now no move makes it more probable that it starts in time; varqd moves it as soon as one does"
	}
}
