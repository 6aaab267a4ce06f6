package ledger

import (
	"context"

	"github.com/varq-project/varq/predictor/workload"
)

// tentative is Entry.Unconfirmed in SQL.
const tentative = "p.tentative <> 0 AND coalesce(b.confirmed, 0) = 0"

// claim is what an open promise claims.
type claim struct {
	workload.Claim // without the times
	// waits is false of a job that does not wait to start in time: it is stopped, or to begin too
	// late. One that is held starts in time if it is released before it is to begin.
	waits bool
	begin int64 // when its job is to be eligible
}

// claimOf returns the claim of an open promise. The job of one that has still to be confirmed is to
// begin much later until then, and claims its room already. The work of a job that varq leaves
// alone has what its time limit leaves after the hold, if that is more than was promised by more
// than workload.LimitSlack.
func claimOf(e *Entry) claim {
	p, unconfirmed := &e.Progress, e.Unconfirmed()
	c := claim{begin: p.BeginTime, waits: p.Stopped == "" && (unconfirmed || p.BeginTime <= e.Deadline())}
	if unconfirmed {
		c.begin = e.BeginTime
	}
	c.Request = workload.Request{User: e.User, Account: e.Account, Partition: e.Partition, QOS: e.QOS, Size: e.Size, Limit: e.WorkLimit}
	c.Pieces, c.Job = e.Pieces, e.Job
	if more := p.TimeLimit - max(0, e.HoldUntil-p.BeginTime) - e.WorkLimit; p.Yielded && more > workload.LimitSlack {
		c.Limit += more
	}
	return c
}

// Claims returns what the jobs of open promises claim, as of now. A job that waits claims nothing
// once its deadline is over, nor if it is held when it is to begin, nor if somebody has moved it to
// after the deadline: nobody knows when it starts. A job that waits is expected to have idle nodes
// for as large a share of the time for which it may as when it was promised. A plan that no job has
// taken up claims nothing once it was taken back, or was without a job for long.
func (l *Ledger) Claims(ctx context.Context, now int64) ([]workload.Claim, error) {
	l.book.mu.Lock()
	defer l.book.mu.Unlock()
	open, err := l.readBook(ctx)
	if err != nil {
		return nil, err
	}
	var list []workload.Claim
	for _, o := range open {
		c, start := o.claim.Claim, o.Progress.Start
		switch {
		case start == 0 && (o.Deadline() < now || !o.claim.waits || o.Progress.Held && o.claim.begin <= now):
			continue
		case c.Job == 0 && (o.Withdrawn != 0 || o.Promised+unclaimedFor <= now):
			continue
		}
		c.Start, c.From = o.times(now)
		c.Runs = start != 0
		list = append(list, c)
	}
	return list, nil
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
