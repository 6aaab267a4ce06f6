package keeper

import (
	"fmt"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/live/ledger"
	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/slurmtime"
)

// observe copies a pending job's state from the queue. If the job's begin time or time
// limit is neither the one that varq set last nor the one before, or if the job asks for
// something else than before, then somebody else has changed it. From then on varq does not
// revise the job any more, and does not cancel it.
func (c *change) observe(j *slurm.QueueEntry) {
	p, asked := &c.progress, asks(j)
	p.Interactive = j.Interactive
	if j.Submit != p.Submit {
		c.requeue(j)
		if p.WasLimit != 0 && j.Limit > max(p.TimeLimit, p.WasLimit) { // while it ran
			c.yield(limitChanged(j))
		}
		p.BeginTime, p.WasBegin = j.Eligible, j.Eligible
		p.TimeLimit, p.WasLimit = j.Limit, j.Limit // varq-wrapper may have trimmed it
		p.Asks = asked
	}
	if p.WasLimit == 0 {
		c.event(ledger.Note, "the ledger was restored: the begin time and the time limit that the job has are taken for those that varq has set")
		c.follow(j)
	}
	c.observeHolds(j)
	p.State, p.Name = api.StatePending, shownName(j.Name)
	if p.WorkStart == 0 {
		p.Eligible = j.Eligible
	}
	if difference := changed(p.Asks, asked); difference != "" {
		c.yield("changed, not by varq: " + difference)
	}
	p.Asks = asked
	if j.Limit != p.TimeLimit && j.Limit != p.WasLimit {
		c.yield(limitChanged(j))
	}
	if j.Eligible != p.BeginTime && j.Eligible != p.WasBegin && c.beginChanged(j) {
		c.yield(fmt.Sprintf("the begin time was changed to %s, not by varq", c.moment(j.Eligible)))
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

// follow takes what the job has in Slurm for what varq has set: varq does not revise it any more, or does not know what it has set.
func (c *change) follow(j *slurm.QueueEntry) {
	p := &c.progress
	p.TimeLimit, p.WasLimit = j.Limit, j.Limit
	if j.Eligible != 0 {
		p.BeginTime, p.WasBegin = j.Eligible, j.Eligible
	}
}

// requeue records that Slurm has put the job back into the queue, to be submitted anew.
func (c *change) requeue(j *slurm.QueueEntry) {
	p := &c.progress
	c.event(ledger.Requeued, "back in the queue")
	p.Submit, p.Interrupted = j.Submit, true
	if p.WorkStart == 0 {
		p.HeldBefore += idle(p.Start, j.Submit, c.holdUntil)
		p.Start = 0
	}
}

// idle returns for how many seconds the nodes of a run have idled before its work.
func idle(start, end, holdUntil int64) int64 {
	if start == 0 {
		return 0
	}
	return max(0, min(end, holdUntil)-start)
}

// worked returns for how many seconds a run without a hold has worked.
func worked(start, end int64) int64 {
	if start == 0 {
		return 0
	}
	return max(0, end-start)
}

// observeHolds records who holds the job. Its user has kept it from starting if she holds it beyond
// its begin time. If Slurm or an operator does, that is not her doing.
func (c *change) observeHolds(j *slurm.QueueEntry) {
	p := &c.progress
	if j.Held != p.Held {
		p.Held = j.Held
		switch {
		case j.Held:
			c.event(ledger.User, "held")
		case !p.Yielded && p.BeginTime < c.now:
			c.yield("released, after its begin time")
		default:
			c.event(ledger.User, "released")
		}
	}
	if j.Stopped != p.Stopped {
		p.Stopped = j.Stopped
		if j.Stopped != "" {
			p.Interrupted = true
			c.event(ledger.Note, "%s", stopper(j.Stopped))
		} else {
			c.event(ledger.Note, "no longer held by Slurm or an operator")
		}
	}
}

// stopper says who holds a job that is stopped for this reason.
func stopper(reason string) string {
	switch reason {
	case "JobHeldAdmin":
		return "held by an operator"
	case suspended:
		return "suspended by an operator, or by Slurm for another job"
	}
	return fmt.Sprintf("held by Slurm (%s)", reason)
}

// observeEligible notices from the eligible time of a job, which has started or is late, that
// somebody else has held or moved it without the queue having shown that. submit is the run's.
func (c *change) observeEligible(submit, eligible int64) {
	p := &c.progress
	first, last := min(p.BeginTime, p.WasBegin), max(p.BeginTime, p.WasBegin, submit)
	if p.Yielded || p.Interrupted || p.WasLimit == 0 || submit != p.Submit || eligible == 0 || first <= eligible && eligible <= last+lag {
		return
	}
	c.yield(fmt.Sprintf("the begin time was changed to %s, not by varq", c.moment(eligible)))
	p.BeginTime, p.WasBegin = eligible, eligible
}

// yield records that varq leaves the job alone from now on, and why. A job whose group has lost it is cancelled nevertheless, and its
// note says that.
func (c *change) yield(why string) {
	if c.progress.Gate == api.GateLost {
		return
	}
	c.progress.Yielded = true
	c.event(ledger.User, "%s; varq leaves the job alone now", why)
}

// confirm records which part of varq's last change Slurm has made. A job that still has
// its old begin time or limit keeps it.
func (c *change) confirm(j *slurm.QueueEntry) {
	p := &c.progress
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
func (c *change) beginChanged(j *slurm.QueueEntry) bool {
	passed := c.now + lag
	switch {
	case j.Eligible == 0 || j.Eligible == j.Submit:
		return false
	case c.progress.BeginTime <= passed:
		return j.Eligible > passed
	default:
		return true // to another time than varq's, earlier or later
	}
}

// lag is by how many seconds Slurm's time may be ahead of now.
const lag = 30
