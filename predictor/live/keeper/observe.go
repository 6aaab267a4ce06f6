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
	if j.Submit != p.Submit {
		c.event(ledger.Requeued, "requeued by Slurm")
		p.Submit, p.BeginTime, p.WasBegin = j.Submit, j.Eligible, j.Eligible
		p.TimeLimit, p.WasLimit = j.Limit, j.Limit // varq-wrapper may have trimmed it
		p.Asks = asked
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
	p.State, p.Name = api.StatePending, shownName(j.Name)
	if p.WorkStart == 0 {
		p.Eligible = j.Eligible
	}
	difference := changed(p.Asks, asked)
	p.Asks = asked
	switch {
	case difference != "" && p.Yielded:
		c.event(ledger.User, "changed, not by varq: %s", difference)
	case difference != "":
		c.yield("changed, not by varq: " + difference)
	case p.Yielded:
	case j.Limit != p.TimeLimit && j.Limit != p.WasLimit:
		c.yield(fmt.Sprintf("the time limit was changed to %s, not by varq", slurmtime.FormatDuration(j.Limit)))
	case j.Eligible != p.BeginTime && j.Eligible != p.WasBegin && c.beginChanged(j):
		c.yield(fmt.Sprintf("the begin time was changed to %s, not by varq", c.moment(j.Eligible)))
	case j.Eligible != 0:
		c.confirm(j)
	}
}

// yield records that varq leaves the job alone from now on, and why.
func (c *change) yield(why string) {
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
