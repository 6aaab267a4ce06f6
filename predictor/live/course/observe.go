package course

import (
	"fmt"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/live/ledger"
	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/slurmtime"
)

// Observe copies a pending job's state from the queue. If the job's begin time or time
// limit is neither the one that varq set last nor the one before, or if the job asks for
// something else than before, then somebody else has changed it. From then on varq does not
// revise the job any more, and does not cancel it.
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
		c.Yield("changed, not by varq: " + difference)
	}
	p.Asks = asked
	if j.Limit != p.TimeLimit && j.Limit != p.WasLimit {
		c.Yield(limitChanged(j))
	}
	if j.Eligible != p.BeginTime && j.Eligible != p.WasBegin && c.beginChanged(j) {
		c.Yield(fmt.Sprintf("the begin time was changed to %s, not by varq", c.Moment(j.Eligible)))
	}
	switch {
	case p.Yielded:
		c.follow(j)
	case j.Eligible != 0:
		c.confirm(j)
	}
}

func limitChanged(j *slurm.QueueEntry) string {
	return fmt.Sprintf("the time limit was changed to %s, not by varq", slurmtime.FormatDuration(j.Limit))
}

// follow takes what the job has in Slurm for what varq has set: varq does not revise it any more,
// or does not know what it has set.
func (c *Change) follow(j *slurm.QueueEntry) {
	p := &c.Progress
	p.TimeLimit, p.WasLimit = j.Limit, j.Limit
	if j.Eligible != 0 {
		p.BeginTime, p.WasBegin = j.Eligible, j.Eligible
	}
}

// Requeue records that Slurm has put the job back into the queue, to be submitted anew.
func (c *Change) Requeue(j *slurm.QueueEntry) {
	p := &c.Progress
	c.Event(ledger.Requeued, "back in the queue")
	p.Submit, p.Interrupted = j.Submit, true
	if p.WorkStart == 0 {
		p.HeldBefore += Idle(p.Start, j.Submit, c.holdUntil)
		p.Start = 0
	}
}

// Idle returns for how many seconds the nodes of a run have idled before its work.
func Idle(start, end, holdUntil int64) int64 {
	if start == 0 {
		return 0
	}
	return max(0, min(end, holdUntil)-start)
}

// Worked returns for how many seconds a run without a hold has Worked.
func Worked(start, end int64) int64 {
	if start == 0 {
		return 0
	}
	return max(0, end-start)
}

// observeHolds records who holds the job. Its user has kept it from starting if she holds it beyond
// its begin time. If Slurm or an operator does, that is not her doing.
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

// Stopper says who holds a job that is stopped for this reason.
func Stopper(reason string) string {
	switch reason {
	case "JobHeldAdmin":
		return "held by an operator"
	case Suspended:
		return "suspended by an operator, or by Slurm for another job"
	}
	return fmt.Sprintf("held by Slurm (%s)", reason)
}

// ObserveEligible notices from the eligible time of a job, which has started or is late, that
// somebody else has held or moved it without the queue having shown that. submit is the run's.
func (c *Change) ObserveEligible(submit, eligible int64) {
	p := &c.Progress
	first, last := min(p.BeginTime, p.WasBegin), max(p.BeginTime, p.WasBegin, submit)
	if p.Yielded || p.Interrupted || p.WasLimit == 0 || submit != p.Submit || eligible == 0 || first <= eligible && eligible <= last+lag {
		return
	}
	c.Yield(fmt.Sprintf("the begin time was changed to %s, not by varq", c.Moment(eligible)))
	p.BeginTime, p.WasBegin = eligible, eligible
}

// Yield records that varq leaves the job alone from now on, and why. A job whose group has lost it
// is cancelled nevertheless, and its note says that.
func (c *Change) Yield(why string) {
	if c.Progress.Gate == api.GateLost {
		return
	}
	c.Progress.Yielded = true
	c.Event(ledger.User, "%s; varq leaves the job alone now", why)
}

// confirm records which part of varq's last change Slurm has made. A job that still has
// its old begin time or limit keeps it.
func (c *Change) confirm(j *slurm.QueueEntry) {
	p := &c.Progress
	p.TimeLimit, p.WasLimit = j.Limit, j.Limit
	if j.Eligible == p.WasBegin {
		p.BeginTime = p.WasBegin
	}
	p.WasBegin = p.BeginTime
}

// beginChanged reports whether somebody else has changed the begin time of j, whose
// eligible time is not a begin time that varq has set. An eligible time of 0 shows no
// change: Slurm reports it for a held job. If both the eligible time and varq's begin
// time have passed, that shows no change either: a job that is submitted late, released
// or requeued becomes eligible after its begin time. One that is eligible from its submission
// on was submitted late, even if by now, which is at most Slurm's time, that is still to come.
// The same goes for one that was released or requeued a moment ago: what is less than lag
// away counts as passed.
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

// lag is by how many seconds Slurm's time may be ahead of now.
const lag = 30
