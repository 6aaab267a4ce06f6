package ledger

import (
	"context"
	"database/sql"
	"fmt"
	"slices"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/live/sqlitefile"
	"github.com/varq-project/varq/predictor/promise/policy"
	"github.com/varq-project/varq/predictor/workload"
)

// Query selects reservations; an empty field selects all.
type Query struct {
	Plan string
	User string
	Job  int64
	// Open selects the reservations that are not settled. OpenOrSince selects them, and
	// also the reservations whose deadline is at that time or later.
	Open        bool
	OpenOrSince int64
	// Grouped selects the members of groups.
	Grouped bool
	// NewSince selects the reservations without a job, and those whose job was submitted at that
	// time or later.
	NewSince int64
	// Selection selects by deadline, account, partition, job name and state.
	api.Selection
}

func (q *Query) where() (w sqlitefile.Where) {
	w.And(q.Plan != "", "id = ?", q.Plan)
	w.And(q.User != "", "user = ?", q.User)
	w.And(q.Job != 0, "id IN (SELECT plan FROM bindings WHERE job = ?)", q.Job)
	w.And(q.Open, "open")
	w.And(q.OpenOrSince != 0, "(open OR "+deadline+" >= ?)", q.OpenOrSince)
	w.And(q.Grouped, "group_id <> ''")
	w.And(q.NewSince != 0, "(job = 0 OR submit >= ?)", q.NewSince)
	w.And(q.Start != 0, deadline+" >= ?", q.Start)
	w.And(q.End != 0, deadline+" < ?", q.End)
	w.In("account", q.Accounts)
	w.In("partition", q.Partitions)
	w.In("name", q.Names)
	w.In("state", q.States)
	return w
}

// deadline is api.Plan's Deadline of a row of plans. Indices have the same expression.
const deadline = "max(begin_by, finish_by)"

// Select returns the reservations that q selects, in the order of their deadlines.
func (l *Ledger) Select(ctx context.Context, q Query) ([]Entry, error) {
	where := q.where()
	var e Entry
	columns := entryColumns(&e)
	into := columns.Pointers()
	var entries []Entry
	err := l.each(ctx, "SELECT "+columns.Names()+" FROM reservations"+where.Clause()+" ORDER BY "+deadline+", job, id", where.Args, func(rows *sql.Rows) error {
		if err := rows.Scan(into...); err != nil {
			return err
		}
		e.Name, e.State, e.Eligible, e.Start, e.WorkStart = e.Progress.Name, e.Progress.State, e.Progress.Eligible, e.Progress.Start, e.Progress.WorkStart
		e.Allocated = e.Progress.Nodes
		entries = append(entries, e)
		return nil
	})
	return entries, err
}

// AnyOpen reports whether a reservation is open.
func (l *Ledger) AnyOpen(ctx context.Context) (open bool, err error) {
	err = l.each(ctx, "SELECT EXISTS (SELECT 1 FROM plans WHERE open)", nil, func(rows *sql.Rows) error { return rows.Scan(&open) })
	return open, err
}

// Held returns the open reservations of a user, and those of the accounts, and what the idle nodes
// of each may cost at most: without plans that were withdrawn and that no job has taken up. Upper and
// lower case of accounts are the same.
func (l *Ledger) Held(ctx context.Context, withdrawn func(plan string) bool, user string, accounts ...string) ([]policy.Held, error) {
	where := "p.user = ?"
	args := []any{user}
	for _, account := range accounts {
		where += " OR p.account = ? COLLATE NOCASE"
		args = append(args, account)
	}
	var list []policy.Held
	err := l.each(ctx, `SELECT p.id, coalesce(b.job, 0), p.user, p.account, p.partition, p.qos, p.work_limit, p.hold_until, p.work_node_seconds, coalesce(b.earliest, p.earliest)
		FROM plans p LEFT JOIN bindings b ON b.plan = p.id WHERE p.open AND (`+where+")", args, func(rows *sql.Rows) error {
		var h policy.Held
		var p api.Plan
		var job, earliest int64
		if err := rows.Scan(&p.ID, &job, &h.User, &h.Account, &h.Partition, &h.QOS, &p.WorkLimit, &p.HoldUntil, &p.Work.NodeSeconds, &earliest); err != nil {
			return err
		}
		if job == 0 && withdrawn(p.ID) {
			return nil
		}
		h.NodeSeconds = p.Idle(earliest).NodeSeconds
		list = append(list, h)
		return nil
	})
	return list, err
}

// unclaimedFor is for how many seconds a promise claims its room though it has no job: sbatch takes
// one up at once. While a user has an older promise without a job, her new ones claim nothing
// before they have one. So nobody keeps room from others by promises alone.
const unclaimedFor = 120

// tentative is whether a promise of Claims has still to be confirmed. Its job, which is to begin much later until
// then, claims its room already.
const tentative = "p.tentative <> 0 AND coalesce(b.confirmed, 0) = 0"

// Claims returns what the jobs of open promises claim, as of now. A job that waits claims nothing once
// its deadline is over, nor while it is held, nor if somebody has moved it to after the deadline: nobody
// knows when it starts. A job that waits is expected to have idle nodes for as large a share of the time for which
// it may as when it was promised. A plan that was withdrawn, and that no job has taken up, claims nothing.
func (l *Ledger) Claims(ctx context.Context, now int64, withdrawn func(plan string) bool) ([]workload.Claim, error) {
	var list []workload.Claim
	jobless := map[string]bool{} // users with an older promise without a job
	err := l.each(ctx, `SELECT p.id, p.user, p.account, p.partition, p.qos, p.nodes, p.cpus, p.gpus, p.memory, p.pieces, p.piece_cpus, p.piece_gpus, p.piece_memory, p.exclusive, p.work_limit, p.hold_until, p.slot, p.promised_at,
		p.expected_node_seconds, p.worst_node_seconds, CASE WHEN `+tentative+` THEN p.begin_time ELSE coalesce(b.begin_time, p.begin_time) END, coalesce(b.job, 0), coalesce(b.start, 0), coalesce(b.work_start, 0)
		FROM plans p LEFT JOIN bindings b ON b.plan = p.id
		WHERE p.open AND (b.start > 0 OR `+deadline+` >= ? AND NOT coalesce(b.held OR b.stopped <> '' OR b.begin_time > `+deadline+` AND NOT (`+tentative+`), 0))`, []any{now}, func(rows *sql.Rows) error {
		var c workload.Claim
		var plan string
		var holdUntil, slot, promised, begin, start, workStart int64
		var expected, worst float64
		if err := rows.Scan(&plan, &c.User, &c.Account, &c.Partition, &c.QOS, &c.Nodes, &c.CPUs, &c.GPUs, &c.Memory,
			&c.Pieces.Count, &c.Pieces.Each.CPUs, &c.Pieces.Each.GPUs, &c.Pieces.Each.Memory, &c.Pieces.Exclusive, &c.Limit, &holdUntil, &slot, &promised,
			&expected, &worst, &begin, &c.Job, &start, &workStart); err != nil {
			return err
		}
		if c.Job == 0 && withdrawn(plan) {
			return nil
		}
		if c.Job == 0 && promised <= now-unclaimedFor {
			jobless[c.User] = true
			return nil
		}
		switch {
		case workStart != 0:
			c.Start, c.From = start, workStart
		case start != 0:
			c.Start, c.From = start, max(start, holdUntil)
		default:
			c.From = max(slot, begin, now)
			c.Start = c.From
			if begin < holdUntil && worst > 0 {
				c.Start = min(c.From, max(now, holdUntil-int64(expected/worst*float64(holdUntil-begin))))
			}
		}
		c.Runs = start != 0
		list = append(list, c)
		return nil
	})
	return slices.DeleteFunc(list, func(c workload.Claim) bool { return c.Job == 0 && jobless[c.User] }), err
}

// Events returns the events of a plan, oldest first.
func (l *Ledger) Events(ctx context.Context, plan string) ([]Event, error) {
	var events []Event
	err := l.each(ctx, `SELECT at, kind, text FROM events WHERE plan = ? ORDER BY id`, []any{plan}, func(rows *sql.Rows) error {
		var e Event
		if err := rows.Scan(&e.At, &e.Kind, &e.Text); err != nil {
			return err
		}
		events = append(events, e)
		return nil
	})
	return events, err
}

// First returns when the ledger's first promise was made. It reports false if the ledger has
// none.
func (l *Ledger) First(ctx context.Context) (at int64, ok bool, err error) {
	err = l.each(ctx, `SELECT min(promised_at) FROM plans HAVING count(*) > 0`, nil, func(rows *sql.Rows) error {
		ok = true
		return rows.Scan(&at)
	})
	return at, ok, err
}

// Outcomes returns the number of promises in each of api's states.
func (l *Ledger) Outcomes(ctx context.Context) (map[string]int, error) {
	counts := map[string]int{}
	err := l.each(ctx, `SELECT state, count(*) FROM (
		SELECT outcome AS state FROM settlements
		UNION ALL SELECT coalesce(b.state, 'PROMISED') FROM plans p LEFT JOIN bindings b ON b.plan = p.id WHERE p.open
		) GROUP BY state`, nil, func(rows *sql.Rows) error {
		var state string
		var n int
		if err := rows.Scan(&state, &n); err != nil {
			return err
		}
		counts[state] = n
		return nil
	})
	return counts, err
}

// each calls do for each row of a query.
func (l *Ledger) each(ctx context.Context, query string, args []any, do func(*sql.Rows) error) error {
	if err := l.db.Each(ctx, query, args, do); err != nil {
		return fmt.Errorf("ledger: %w", err)
	}
	return nil
}
