package ledger

import (
	"context"
	"slices"

	"github.com/varq-project/varq/predictor/workload"
)

// tentative is Entry.Unconfirmed in SQL.
const tentative = "p.tentative <> 0 AND coalesce(b.confirmed, 0) = 0"

// claim is what an open promise claims.
type claim struct {
	workload.Claim // without the times
	// waits is false for a job that cannot start in time as it is: it is stopped, or its begin time
	// is too late. A held job starts in time if it is released before its begin time.
	waits bool
	begin int64 // when its job becomes eligible
}

// claimOf returns the claim of an open promise. The job of an unconfirmed promise has a much later
// begin time until it is confirmed. But the promise claims its room already. If varq leaves the job
// alone, somebody may have given the work more time than promised. Then the claim is the part of
// the time limit after the hold, if it exceeds the promise by more than workload.LimitSlack.
func claimOf(e *Entry) claim {
	p, unconfirmed := &e.Progress, e.Unconfirmed()
	c := claim{begin: p.BeginTime, waits: p.Stopped == "" && (unconfirmed || p.BeginTime <= e.Deadline())}
	if unconfirmed {
		c.begin = e.BeginTime
	}
	c.Request, c.Pieces, c.Job = e.Request(e.WorkLimit), e.Pieces, e.Job
	if n := e.toStart(); e.Tasks > 0 {
		c.Size, c.Pieces = c.Times(n), c.Pieces.Times(n)
		c.Nodes = e.NodesOf(n)
	}
	if more := p.TimeLimit - max(0, e.HoldUntil-p.BeginTime) - e.WorkLimit; p.Yielded && more > workload.LimitSlack {
		c.Limit += more
	}
	return c
}

// toStart returns how many tasks of e's array may start beside those that run.
func (e *Entry) toStart() int32 {
	if e.AtOnce == 0 {
		return e.Waiting()
	}
	return max(0, min(e.Waiting(), e.AtOnce-e.RunningTasks()))
}

// Claims returns what the jobs of open promises claim at the time now, without those of the plans
// that but names. A waiting job claims nothing in three cases, because nobody knows when it
// starts: its deadline is over, it is held at its begin time, or somebody has moved it to after the
// deadline. The nodes of a waiting job are expected to idle before its work for a share of the
// longest possible time. This share is the same as when the job was promised. A plan without a job
// claims nothing once it was taken back, or after unclaimedFor seconds.
func (l *Ledger) Claims(ctx context.Context, now int64, but ...string) ([]workload.Claim, error) {
	l.book.mu.Lock()
	defer l.book.mu.Unlock()
	open, err := l.readBook(ctx)
	if err != nil {
		return nil, err
	}
	var list []workload.Claim
	for _, o := range open {
		c, start := o.claim.Claim, o.Progress.Start
		if slices.Contains(but, o.ID) {
			continue
		}
		if o.Tasks > 0 {
			list = append(list, o.taskClaims()...)
		}
		switch {
		case o.Tasks > 0 && o.toStart() == 0:
			continue
		case start == 0 && (o.Deadline() < now || !o.claim.waits || o.Progress.Held && o.claim.begin <= now):
			continue
		case c.Job == 0 && (o.Withdrawn != 0 || o.Promised+unclaimedFor <= now):
			continue
		}
		c.Start, c.From = o.times(now)
		c.Runs = start != 0
		list = append(list, c)
		if n := o.Unpromised(); n > 0 {
			list = append(list, o.besides(n, now))
		}
	}
	return list, nil
}

// besides returns what tasks of an array claim that may run beside the promised ones: like plain
// jobs they may have nodes as soon as they are eligible.
func (o *openEntry) besides(n int32, now int64) workload.Claim {
	c := workload.Claim{Request: o.Request(o.TimeLimit), Job: o.Job, Plain: true}
	c.Size, c.Pieces = c.Times(n), o.Pieces.Times(n)
	c.Nodes = o.NodesOf(n)
	c.Start = max(now, o.claim.begin)
	c.From = c.Start
	return c
}

// taskClaims returns what the tasks of an array claim that have started.
func (o *openEntry) taskClaims() (claims []workload.Claim) {
	for _, t := range o.TaskRuns {
		if t.Gone == 0 {
			claims = append(claims, workload.Claim{
				Request: o.Request(o.claim.Limit), Pieces: o.Pieces, Job: t.Job, Runs: true, Start: t.Start, From: max(t.Start, o.HoldUntil),
			})
		}
	}
	return claims
}

// times returns from when on the job has nodes, and when its work begins.
func (o *openEntry) times(now int64) (start, from int64) {
	p, begin := &o.Progress, o.claim.begin
	switch {
	case p.WorkStart != 0:
		return p.Start, p.WorkStart
	case p.Start != 0:
		return p.Start, max(p.Start, o.HoldUntil)
	}
	from = max(o.Slot, begin, now)
	if begin < o.HoldUntil && o.Worst.NodeSeconds > 0 {
		idle := o.Expected.NodeSeconds / o.Worst.NodeSeconds * float64(o.HoldUntil-begin)
		return min(from, max(now, o.HoldUntil-int64(idle))), from
	}
	return from, from
}
