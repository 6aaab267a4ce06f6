package keeper

import (
	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/live/ledger"
	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/slurmtime"
)

// observe takes over how a pending job stands in the queue. Varq yields for good a job
// that somebody else has changed: its begin time or time limit is neither the one that
// varq set last nor the one before.
func (c *change) observe(j *slurm.QueueEntry) {
	p := &c.progress
	if j.Submit != p.Submit {
		c.event(ledger.Requeued, "requeued by Slurm")
		p.Submit, p.BeginTime, p.WasBegin = j.Submit, j.Eligible, j.Eligible
		p.TimeLimit, p.WasLimit = j.Limit, j.Limit // varq-wrapper may have trimmed it
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
	p.State, p.Eligible = api.StatePending, j.Eligible
	switch {
	case p.Yielded:
	case j.Limit != p.TimeLimit && j.Limit != p.WasLimit:
		p.Yielded = true
		c.event(ledger.User, "the time limit was changed to %s, not by varq; varq leaves the job alone now", slurmtime.FormatDuration(j.Limit))
	case j.Eligible != p.BeginTime && j.Eligible != p.WasBegin && c.moved(j):
		p.Yielded = true
		c.event(ledger.User, "the begin time was changed to %s, not by varq; varq leaves the job alone now", c.moment(j.Eligible))
	case j.Eligible != 0:
		c.carriedOut(j)
	}
}

// carriedOut finds out which part of varq's last change Slurm has carried out: the job shows
// either what it was changed to or what it was before.
func (c *change) carriedOut(j *slurm.QueueEntry) {
	p := &c.progress
	p.TimeLimit, p.WasLimit = j.Limit, j.Limit
	if j.Eligible == p.WasBegin {
		p.BeginTime = p.WasBegin
	}
	p.WasBegin = p.BeginTime
}

// moved reports whether an eligible time that is not varq's begin time shows that the
// begin time was changed. It does not while Slurm shows none, as for a held job. It
// does not either once both have passed: a job that is submitted late, released or
// requeued becomes eligible later than its begin time.
func (c *change) moved(j *slurm.QueueEntry) bool {
	return j.Eligible != 0 && (j.Eligible > c.now || j.Eligible < c.progress.BeginTime && c.progress.BeginTime > c.now)
}
