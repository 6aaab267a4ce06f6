package course

import (
	"fmt"
	"strings"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/live/ledger"
	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/slurmtime"
)

// Observe copies a pending job's state from the queue. If the job's begin time or time limit is
// neither the one that varq set last nor the one before, then somebody else has changed the job.
// The same holds if the job asks for something else than before. From then on varq neither revises
// nor cancels the job.
func (c *Change) Observe(j *slurm.QueueEntry) {
	p, asked := &c.Progress, Asks(j)
	p.Interactive = j.Interactive
	if j.Submit != p.Submit {
		c.Requeue(j)
		if p.WasLimit != 0 && j.Limit > max(p.TimeLimit, p.WasLimit) { // while it ran
			c.Yield(limitChanged(j))
		}
		p.BeginTime, p.WasBegin = j.Eligible, j.Eligible
		p.TimeLimit, p.WasLimit = j.Limit, j.Limit // varq-wrapper may have trimmed it
		p.Asks = asked
	}
	if p.WasLimit == 0 {
		c.Event(ledger.Note, "the ledger was restored: the begin time and the time limit that the job has are taken for those that varq has set")
		c.follow(j)
	}
	c.observeHolds(j)
	p.State, p.Name = api.StatePending, ShownName(j.Name)
	if p.WorkStart == 0 {
		p.Eligible = j.Eligible
	}
	if difference := changed(p.Asks, asked); difference != "" {
		c.Yield(changedBy(j, difference))
	}
	p.Asks = asked
	if j.Limit != p.TimeLimit && j.Limit != p.WasLimit {
		c.Yield(limitChanged(j))
	}
	if j.Eligible != p.BeginTime && j.Eligible != p.WasBegin && c.beginChanged(j) {
		c.Yield(fmt.Sprintf("the begin time%s was changed to %s, not by varq", OfTasks(j), c.Moment(j.Eligible)))
	}
	switch {
	case p.Yielded:
		c.follow(j)
	case j.Eligible != 0:
		c.confirm(j)
	}
}

// OfTasks names the tasks of an array that keep the job from starting that stands for more of them:
// " of its task 2". It is "" for any other job.
func OfTasks(j *slurm.QueueEntry) string {
	switch {
	case j.ArrayTasks == "":
		return ""
	case strings.ContainsAny(j.ArrayTasks, ",-"):
		return " of its tasks " + j.ArrayTasks
	}
	return " of its task " + j.ArrayTasks
}

// changedBy describes a difference in what j asks for. If the reservation of j was deleted, Slurm
// holds j, and the text says what its user can do.
func changedBy(j *slurm.QueueEntry, difference string) string {
	name, _ := strings.CutPrefix(j.Stopped, "Reservation ")
	name, deleted := strings.CutSuffix(name, " was deleted")
	name = strings.ReplaceAll(name, " ", "_") // no name has spaces
	if !deleted || !strings.Contains(difference, fmt.Sprintf("%s from %s to none", reservation, name)) {
		return "changed, not by varq: " + difference
	}
	return fmt.Sprintf("Slurm holds the job, because reservation %s was deleted: 'scontrol release %d' lets it run without the reservation, and 'scancel %d' withdraws it",
		name, j.ID, j.ID)
}

func limitChanged(j *slurm.QueueEntry) string {
	return fmt.Sprintf("the time limit was changed to %s, not by varq", slurmtime.FormatDuration(j.Limit))
}

// follow records the job's begin time and limit in Slurm as if varq had set them. It is called if
// varq no longer revises the job, or does not know what it has set.
func (c *Change) follow(j *slurm.QueueEntry) {
	p := &c.Progress
	p.TimeLimit, p.WasLimit = j.Limit, j.Limit
	if j.Eligible != 0 {
		p.BeginTime, p.WasBegin = j.Eligible, j.Eligible
	}
}

// Requeue records that Slurm has put the job back into the queue, as a new submission.
func (c *Change) Requeue(j *slurm.QueueEntry) {
	p := &c.Progress
	c.Event(ledger.Requeued, "back in the queue")
	p.Submit, p.Interrupted = j.Submit, true
	if p.WorkStart == 0 {
		p.HeldBefore += Idle(p.Start, j.Submit, c.holdUntil)
		p.Start = 0
	}
}

// Idle returns for how many seconds the nodes of a run were idle before the work began.
func Idle(start, end, holdUntil int64) int64 {
	if start == 0 {
		return 0
	}
	return max(0, min(end, holdUntil)-start)
}

// Worked returns for how many seconds a run without a hold has worked.
func Worked(start, end int64) int64 {
	if start == 0 {
		return 0
	}
	return max(0, end-start)
}

// observeHolds records who holds the job. A user who holds her job beyond its begin time has kept
// it from starting. She has not if Slurm or an operator holds it.
func (c *Change) observeHolds(j *slurm.QueueEntry) {
	p := &c.Progress
	if j.Held != p.Held {
		p.Held = j.Held
		switch {
		case j.Held:
			c.Event(ledger.User, "held")
		case !p.Yielded && p.BeginTime < c.Now:
			c.Yield("released, after its begin time")
		default:
			c.Event(ledger.User, "released")
		}
	}
	if j.Stopped != p.Stopped {
		p.Stopped = j.Stopped
		if j.Stopped != "" {
			p.Interrupted = true
			c.Event(ledger.Note, "%s", Stopper(j.Stopped))
		} else {
			c.Event(ledger.Note, "no longer held by Slurm or an operator")
		}
	}
}

// Stopper describes who holds a job that is stopped for this reason.
func Stopper(reason string) string {
	switch reason {
	case "JobHeldAdmin":
		return "held by an operator"
	case Suspended:
		return "suspended by an operator, or by Slurm for another job"
	}
	return fmt.Sprintf("held by Slurm (%s)", reason)
}

// ObserveEligible takes in the eligible time of a job that has started or is late. From this time
// it detects that somebody else has held or moved the job unseen by the queue. submit is the submit
// time of the run.
func (c *Change) ObserveEligible(submit, eligible int64) {
	p := &c.Progress
	first, last := min(p.BeginTime, p.WasBegin), max(p.BeginTime, p.WasBegin, submit)
	if p.Yielded || p.Interrupted || p.WasLimit == 0 || submit != p.Submit || eligible == 0 || first <= eligible && (eligible <= last+lag || c.dependent) {
		return
	}
	c.Yield(fmt.Sprintf("the begin time was changed to %s, not by varq", c.Moment(eligible)))
	p.BeginTime, p.WasBegin = eligible, eligible
}

// Yield records that varq leaves the job alone from now on, and why. It does nothing for a job that
// its group has given up: such a job is cancelled nevertheless, and its note says so.
func (c *Change) Yield(why string) {
	if c.Progress.Gate == api.GateLost {
		return
	}
	c.Progress.Yielded = true
	c.Event(ledger.User, "%s; varq leaves the job alone now", why)
}

// confirm records which part of varq's last change Slurm has made. A job that still has its old
// begin time or limit keeps it.
func (c *Change) confirm(j *slurm.QueueEntry) {
	p := &c.Progress
	p.TimeLimit, p.WasLimit = j.Limit, j.Limit
	if j.Eligible == p.WasBegin {
		p.BeginTime = p.WasBegin
	}
	p.WasBegin = p.BeginTime
}

// beginChanged reports whether somebody else has changed the begin time of j. j's eligible time
// differs from the begin times that varq has set. Three cases are not a change:
//
//   - The eligible time is 0: Slurm reports 0 for a held job.
//   - Both the eligible time and varq's begin time have passed. A job that is submitted late,
//     released or requeued becomes eligible after its begin time. A time that is less than lag
//     seconds away counts as passed, so that a moment ago is early enough.
//   - The job was eligible from its submission on, so it was submitted late. This holds even if the
//     time is still to come, because now may be behind Slurm's clock.
func (c *Change) beginChanged(j *slurm.QueueEntry) bool {
	passed := c.Now + lag
	switch {
	case j.Eligible == 0 || j.Eligible == j.Submit:
		return false
	case c.Progress.BeginTime <= passed:
		return j.Eligible > passed
	default:
		return true // to another time than varq's, earlier or later
	}
}

// lag is how many seconds Slurm's clock may be ahead of now.
const lag = 30
