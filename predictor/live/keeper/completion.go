package keeper

import (
	"context"
	"fmt"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/forecast/completion"
	"github.com/varq-project/varq/predictor/live/course"
	"github.com/varq-project/varq/predictor/live/ledger"
	"github.com/varq-project/varq/predictor/prob"
	"github.com/varq-project/varq/predictor/promise/trajectory"
	"github.com/varq-project/varq/predictor/slurm"
)

// followCompletion follows the job of a reservation with FinishBy while it is in the queue. Such a
// job runs as it would without varq, so nothing is moved but by advance. It is forecast whether
// the job ends by FinishBy and, if not, by when.
func (k *follower) followCompletion(ctx context.Context, e *ledger.Entry, j *slurm.QueueEntry, now int64) error {
	if j.Completing {
		return nil
	}
	c := k.newChange(e, now)
	p := &c.Progress
	if j.Submit != p.Submit {
		p.WorkedBefore += course.Worked(p.Start, j.Submit)
		p.Start, p.WorkStart, p.Nodes = 0, 0, 0
	}
	if j.Start == 0 {
		c.Observe(j)
	} else {
		if j.Submit != p.Submit {
			c.Requeue(j)
		}
		p.State, p.Name, p.Held, p.Nodes = api.StateRunning, course.ShownName(j.Name), false, j.Nodes
		p.Eligible, p.Start, p.WorkStart = j.Eligible, j.Start, j.Start
		c.ObserveSuspension(j)
	}
	if err := k.record(ctx, e, c); err != nil {
		return err
	}
	if now >= e.FinishBy+course.Skew {
		return k.lateCompletion(ctx, e, j, c)
	}
	return k.foreseeCompletion(ctx, e, j, c)
}

// leastAdvance is by how many seconds sooner a job may be eligible at least where that is changed.
const leastAdvance = 120

// advance lets a job whose end is promised become eligible sooner, as soon as it would be in the
// way of no promise made before.
func (k *reviser) advance(ctx context.Context, e *ledger.Entry, j *slurm.QueueEntry, now int64) error {
	p := &e.Progress
	delayed := e.BeginTime > e.Promised && j.RestartCount == 0 // by varq, and not by Slurm
	if !delayed || k.Desk.Shadow || k.Outlook.Learning() || p.Yielded || p.Held || p.Stopped != "" || p.BeginTime < now+leastAdvance || k.memory.postponed(e.ID, now) {
		return nil
	}
	at, err := k.Desk.Sooner(ctx, e, now)
	if at = max(at, now); err != nil || at > p.BeginTime-leastAdvance {
		return err
	}
	to := trajectory.Submission{Begin: at, Limit: p.TimeLimit}
	return k.changeJob(ctx, e, j, k.newChange(e, now), to, "until then it was in the way of promises made before, and is no longer")
}

// lateCompletion records that a job has not ended by its deadline. If OnMiss is OnMissCancel, it
// cancels the job, provided that the job still waits and nobody has changed or stopped it. A
// running job goes on, because the work that it has done is worth more than its nodes, and so does
// an array of which a task has started.
func (k *follower) lateCompletion(ctx context.Context, e *ledger.Entry, j *slurm.QueueEntry, c *course.Change) error {
	p := &c.Progress
	k.memory.dropForecast(e.ID)
	if !p.Late {
		p.Late = true
		text := course.NotFinished
		switch {
		case p.Stopped != "":
			text += ": " + course.Stopper(p.Stopped)
		case j.Start == 0:
			text += ": it still waits"
		default:
			text += ": it still runs"
		}
		c.Event(ledger.Note, "%s", text)
		if err := k.record(ctx, e, c); err != nil {
			return err
		}
	}
	if k.Desk.Shadow || j.Start != 0 || partlyStarted(e) || e.OnMiss != api.OnMissCancel || p.Yielded || p.Held || p.Stopped != "" || j.RestartCount > 0 || k.memory.postponed(e.ID, c.Now) {
		return nil
	}
	return k.cancelLate(ctx, e, c, course.NotFinished+", "+course.CancelledAsAsked)
}

// foreseeCompletion forecasts whether the promise will be kept, and records a change of the
// forecast.
func (k *follower) foreseeCompletion(ctx context.Context, e *ledger.Entry, j *slurm.QueueEntry, c *course.Change) error {
	p := &c.Progress
	if p.Held || p.Stopped != "" || j.Start == 0 && j.Eligible == 0 && j.Dependency == "" || p.Yielded && course.Unforeseeable(e, j) {
		k.memory.dropForecast(e.ID)
		return nil
	}
	var lost []string
	if k.Health != nil && j.Start != 0 {
		lost = k.Health.Lost(j.On)
	}
	prospect, from, ok := k.Desk.EndOf(e, j, len(lost) > 0, c.Now)
	if !ok || k.Outlook.Learning() && len(lost) == 0 {
		k.memory.dropForecast(e.ID)
		return nil
	}
	forecast := prospect.Prob(float64(e.FinishBy - from))
	missing, shut := "", ""
	if c := k.Desk.Premises.Limits(); c != nil && j.Start == 0 {
		job := c.Job(j.Request, nil)
		if missing, shut = job.Missing(), shutOut(c, &j.Request, e.Job); missing != "" || shut != "" {
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
	case shut != "":
		why.says = shut
	case missing != "":
		why = obstacle{says: missing, passing: true}
	case prospect.TimeOut() > .5 && e.Tasks <= 1 && prob.Short(forecast, e.Prob):
		why.says = "jobs that have run for so long are likely to be stopped at their time limit, and then nothing is promised"
	case forecast == 0:
		why = noEnd
	}
	k.memory.foresee(e.ID, forecast, why, later)
	c.TellEndangered(e, forecast, later, why.reason())
	if err := k.record(ctx, e, c); err != nil {
		return err
	}
	k.warn(e, forecast, why.reason(), later)
	return nil
}
