package ledger

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/varq-project/varq/predictor/live/sqlitefile"
	"github.com/varq-project/varq/predictor/workload"
)

// tentative is whether a promise of Claims has still to be confirmed. Its job, which is to begin much later until
// then, claims its room already.
const tentative = "p.tentative <> 0 AND coalesce(b.confirmed, 0) = 0"

// workLimit is the time limit of the work of a promise of Claims: of a job that varq leaves alone, what its time limit leaves after the hold,
// if that is more than was promised by more than workload.LimitSlack.
var workLimit = fmt.Sprintf("p.work_limit + CASE WHEN b.yielded AND %s > %d THEN %[1]s ELSE 0 END",
	"(b.time_limit - max(0, p.hold_until - b.begin_time) - p.work_limit)", workload.LimitSlack)

// claims are the open promises as Claims needs them. Whenever a job is planned, all are asked for, and few have changed since: only
// those are read again.
//
// Invariant: a plan is stale once a method that writes it has returned.
type claims struct {
	mu    sync.Mutex
	known bool        // all that are not stale have been read
	list  []*claimant // in their order
	stale map[string]bool
}

// claimant is an open promise.
type claimant struct {
	plan  string
	claim workload.Claim // without the times
	// waits is false of a job that does not wait to start in time: it is stopped, or to begin too
	// late. One that is held starts in time if it is released before it is to begin.
	waits, held, withdrawn                                       bool
	holdUntil, slot, promised, deadline, begin, start, workStart int64
	expected, worst                                              float64 // node-seconds
}

// order has the promise with the earlier deadline first.
func (c *claimant) order(other *claimant) int {
	return cmp.Or(cmp.Compare(c.deadline, other.deadline), cmp.Compare(c.plan, other.plan))
}

// manyStale is from how many stale plans on all open ones are read.
const manyStale = 256

// changed notes that plans were written, or may have been.
func (c *claims) changed(plans ...string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stale == nil {
		c.stale = map[string]bool{}
	}
	for _, plan := range plans {
		c.stale[plan] = true
	}
}

// readClaims reads what is stale. The file is asked even if nothing is: whatever cannot be read is not to be relied on. The caller holds the lock.
func (l *Ledger) readClaims(ctx context.Context) error {
	c := &l.claims
	where := sqlitefile.Where{}
	where.And(true, "p.open")
	some := c.known && len(c.stale) <= manyStale
	if some {
		where.And(len(c.stale) == 0, "false")
		where.In("p.id", slices.Sorted(maps.Keys(c.stale)))
	}
	var fresh []*claimant
	err := l.each(ctx, `SELECT p.id, p.user, p.account, p.partition, p.qos, p.nodes, p.cpus, p.gpus, p.memory, p.pieces, p.piece_cpus, p.piece_gpus, p.piece_memory, p.exclusive, `+workLimit+`, p.hold_until, p.slot, p.promised_at, p.withdrawn <> 0,
		p.expected_node_seconds, p.worst_node_seconds, CASE WHEN `+tentative+` THEN p.begin_time ELSE coalesce(b.begin_time, p.begin_time) END, coalesce(b.job, 0), coalesce(b.start, 0), coalesce(b.work_start, 0),
		`+deadline+`, coalesce(b.held, 0), NOT coalesce(b.stopped <> '' OR b.begin_time > `+deadline+` AND NOT (`+tentative+`), 0)
		FROM plans p LEFT JOIN bindings b ON b.plan = p.id`+where.Clause(), where.Args, func(rows *sql.Rows) error {
		one := &claimant{}
		of := &one.claim
		if err := rows.Scan(&one.plan, &of.User, &of.Account, &of.Partition, &of.QOS, &of.Nodes, &of.CPUs, &of.GPUs, &of.Memory,
			&of.Pieces.Count, &of.Pieces.Each.CPUs, &of.Pieces.Each.GPUs, &of.Pieces.Each.Memory, &of.Pieces.Exclusive, &of.Limit, &one.holdUntil, &one.slot, &one.promised, &one.withdrawn,
			&one.expected, &one.worst, &one.begin, &of.Job, &one.start, &one.workStart, &one.deadline, &one.held, &one.waits); err != nil {
			return err
		}
		fresh = append(fresh, one)
		return nil
	})
	if err != nil {
		return err
	}
	if some {
		c.list = slices.DeleteFunc(c.list, func(one *claimant) bool { return c.stale[one.plan] })
		for _, one := range fresh {
			at, _ := slices.BinarySearchFunc(c.list, one, (*claimant).order)
			c.list = slices.Insert(c.list, at, one)
		}
	} else {
		slices.SortFunc(fresh, (*claimant).order)
		c.known, c.list = true, fresh
	}
	c.stale = nil
	return nil
}

// Claims returns what the jobs of open promises claim, as of now. A job that waits claims nothing
// once its deadline is over, nor if it is held when it is to begin, nor if somebody has moved it to
// after the deadline: nobody knows when it starts. A job that waits is expected to have idle nodes
// for as large a share of the time for which it may as when it was promised. A plan that no job has
// taken up claims nothing once it was taken back, or was without a job for long.
func (l *Ledger) Claims(ctx context.Context, now int64) ([]workload.Claim, error) {
	l.claims.mu.Lock()
	defer l.claims.mu.Unlock()
	if err := l.readClaims(ctx); err != nil {
		return nil, err
	}
	var list []workload.Claim
	for _, one := range l.claims.list {
		c := one.claim
		switch {
		case one.start == 0 && (one.deadline < now || !one.waits || one.held && one.begin <= now):
			continue
		case c.Job == 0 && (one.withdrawn || one.promised+unclaimedFor <= now):
			continue
		}
		c.Start, c.From = one.times(now)
		c.Runs = one.start != 0
		list = append(list, c)
	}
	return list, nil
}

// times returns from when on the job has nodes, and when its work begins.
func (c *claimant) times(now int64) (start, from int64) {
	switch {
	case c.workStart != 0:
		return c.start, c.workStart
	case c.start != 0:
		return c.start, max(c.start, c.holdUntil)
	}
	from = max(c.slot, c.begin, now)
	if c.begin < c.holdUntil && c.worst > 0 {
		return min(from, max(now, c.holdUntil-int64(c.expected/c.worst*float64(c.holdUntil-c.begin)))), from
	}
	return from, from
}
