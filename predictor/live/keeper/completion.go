package keeper

import (
	"context"
	"fmt"
	"strings"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/forecast/completion"
	"github.com/varq-project/varq/predictor/live/ledger"
	"github.com/varq-project/varq/predictor/prob"
	"github.com/varq-project/varq/predictor/slurm"
)

// followCompletion follows the job of a reservation with FinishBy while it is in the queue. Such a job
// runs as it would without varq, so nothing is moved: what is forecast is whether it will have ended by
// then and, if not, by when.
func (k *Keeper) followCompletion(ctx context.Context, e *ledger.Entry, j *slurm.QueueEntry, now int64) error {
	if j.Completing {
		return nil
	}
	c := k.newChange(e, now)
	p := &c.progress
	if j.Submit != p.Submit {
		p.WorkedBefore += worked(p.Start, j.Submit)
		p.Start, p.WorkStart, p.Nodes = 0, 0, 0
	}
	if j.Start == 0 {
		c.observe(j)
	} else {
		if j.Submit != p.Submit {
			c.requeue(j)
		}
		p.State, p.Name, p.Held, p.Nodes = api.StateRunning, shownName(j.Name), false, j.Job.Nodes
		p.Eligible, p.Start, p.WorkStart = j.Eligible, j.Start, j.Start
		c.observeSuspension(j)
	}
	if err := k.record(ctx, e, c); err != nil {
		return err
	}
	if now >= e.FinishBy+skew {
		return k.lateCompletion(ctx, e, j, c)
	}
	return k.foreseeCompletion(ctx, e, j, c)
}

// notFinished is how the note of a job begins that has not ended by its deadline.
const notFinished = "not finished by the deadline"

// lateCompletion records that a job has not ended by its deadline. It cancels a job that still waits, and that nobody has
// changed or stopped, if OnMiss is OnMissCancel. A job that runs goes on: the work that it has done is worth more than its nodes.
func (k *Keeper) lateCompletion(ctx context.Context, e *ledger.Entry, j *slurm.QueueEntry, c *change) error {
	p := &c.progress
	k.memory.forget(e.ID)
	if !p.Late {
		p.Late = true
		text := notFinished
		switch {
		case p.Stopped != "":
			text += ": " + stopper(p.Stopped)
		case j.Start == 0:
			text += ": it still waits"
		default:
			text += ": it still runs"
		}
		c.event(ledger.Note, "%s", text)
		if err := k.record(ctx, e, c); err != nil {
			return err
		}
	}
	if k.Desk.Shadow || j.Start != 0 || e.OnMiss != api.OnMissCancel || p.Yielded || p.Held || p.Stopped != "" || j.RestartCount > 0 || k.memory.postponed(e.ID, c.now) {
		return nil
	}
	return k.cancelLate(ctx, e, c, notFinished+", "+cancelledAsAsked)
}

// foreseeCompletion forecasts whether the promise will be kept, and records it if that changes.
func (k *Keeper) foreseeCompletion(ctx context.Context, e *ledger.Entry, j *slurm.QueueEntry, c *change) error {
	p := &c.progress
	if p.Held || p.Stopped != "" || j.Start == 0 && j.Eligible == 0 || p.Yielded && unforeseeable(j) {
		k.memory.forget(e.ID)
		return nil
	}
	var lost []string
	if k.Health != nil && j.Start != 0 {
		lost = k.Health.Lost(j.Nodes)
	}
	prospect, from, ok := k.Desk.EndOf(e, j, len(lost) > 0, c.now)
	if !ok || k.Outlook.Learning() && len(lost) == 0 {
		k.memory.forget(e.ID)
		return nil
	}
	forecast := prospect.Prob(float64(e.FinishBy - from))
	missing := ""
	if j.Start == 0 {
		if missing = k.Desk.Premises.Missing(j.Request); missing != "" {
			prospect, forecast = &completion.Prospect{}, 0
		}
	}
	later, why := int64(0), obstacle{}
	if seconds, ok := prospect.Within(e.Prob, 60); ok && prob.Short(forecast, e.Prob) {
		later = from + seconds
		if j.Start != 0 && len(lost) == 0 {
			later = min(later, j.Start+j.Limit) // by then it has ended
		}
	}
	switch {
	case len(lost) > 0:
		why.says = fmt.Sprintf("node %s is down or does not respond, so that the job has to begin again", lost[0])
	case missing != "":
		why = obstacle{says: missing, passing: true}
	case prospect.TimeOut() > .5 && prob.Short(forecast, e.Prob):
		why.says = "jobs that have run for so long are likely to be stopped at their time limit, and then nothing is promised"
	case forecast == 0:
		why = unlikely
	}
	k.memory.foresee(e.ID, forecast, why, later)
	c.tellEndangered(e, forecast, later, why.reason())
	if err := k.record(ctx, e, c); err != nil {
		return err
	}
	k.warn(e, forecast, why.reason(), later)
	return nil
}

// endangered is how the note of a promise begins that is less likely to be kept than it was made, by prob.Short.
const endangered = "endangered: "

// tellEndangered records an event when a promise becomes endangered, or for another reason, and when it no longer is.
func (c *change) tellEndangered(e *ledger.Entry, now float64, later int64, reason string) {
	told := strings.HasPrefix(e.Note, endangered)
	switch {
	case prob.Short(now, e.Prob) && (!told || !strings.Contains(e.Note, reason)):
		text := fmt.Sprintf("%sat %s it was to end by the deadline with probability %s", endangered, c.moment(c.now), prob.Format(now))
		if reason != "" {
			text += ": " + reason
		}
		if later != 0 {
			text += fmt.Sprintf("; with probability %.4g it ends by %s", e.Prob, c.moment(later))
		}
		c.event(ledger.Note, "%s", text)
	case told && now >= min(1, e.Prob+margin):
		c.event(ledger.Note, "no longer endangered: it ends by the deadline with probability %s", prob.Format(now))
	}
}
