package ledger

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/live/sqlitefile"
	"github.com/varq-project/varq/predictor/promise/policy"
)

// Query selects reservations; an empty field selects all.
type Query struct {
	Plan string
	User string
	Job  int64
	// Open selects the reservations that are not settled. OpenOrSince selects these, and also the
	// reservations whose deadline is at that time or later.
	Open        bool
	OpenOrSince int64
	// Grouped selects the members of groups.
	Grouped bool
	// Before, if not zero, selects the reservations before a place. Last, if not 0, selects the
	// last so many of the selected reservations.
	Before api.Place
	Last   int
	// Selection selects by deadline, account, partition, job name and state.
	api.Selection
}

func (q *Query) where() (w sqlitefile.Where) {
	w.And(q.Plan != "", "id = ?", q.Plan)
	w.And(q.User != "", "user = ?", q.User)
	w.And(q.Job != 0, "id IN (SELECT plan FROM bindings WHERE job = ? UNION ALL SELECT plan FROM settlements WHERE refused <> 0 AND refused = ?)", q.Job, q.Job)
	w.And(q.Open, "open")
	w.And(q.OpenOrSince != 0, "(open OR "+deadline+" >= ?)", q.OpenOrSince)
	w.And(q.Grouped, "group_id <> ''")
	w.And(q.Before != api.Place{}, deadline+" <= ? AND ("+deadline+", id) < (?, ?)", q.Before.Deadline, q.Before.Deadline, q.Before.Plan)
	w.And(q.Start != 0, deadline+" >= ?", q.Start)
	w.And(q.End != 0, deadline+" < ?", q.End)
	w.In("account", q.Accounts)
	w.In("partition", q.Partitions)
	w.In("name", q.Names)
	w.In("state", q.States)
	return w
}

// deadline is api.Plan.Deadline of a row of plans. Indices have the same expression.
const deadline = "max(begin_by, finish_by)"

// Select returns the reservations that q selects, in the order of their deadlines. See also Open.
func (l *Ledger) Select(ctx context.Context, q Query) ([]Entry, error) {
	where := q.where()
	if q.Last == 0 {
		return l.entries(ctx, where, deadline+", job, id")
	}
	where.Args = append(where.Args, q.Last)
	entries, err := l.entries(ctx, where, deadline+" DESC, id DESC LIMIT ?")
	slices.SortFunc(entries, func(a, b Entry) int { return a.order(&b) })
	return entries, err
}

// order is the order of Select.
func (e *Entry) order(other *Entry) int {
	return cmp.Or(cmp.Compare(e.Deadline(), other.Deadline()), cmp.Compare(e.Job, other.Job), cmp.Compare(e.ID, other.ID))
}

// entries reads reservations in an order, or in any order if it is "".
func (l *Ledger) entries(ctx context.Context, where sqlitefile.Where, order string) (entries []Entry, err error) {
	var e Entry
	columns := entryColumns(&e)
	into := columns.Pointers()
	query := "SELECT " + columns.Names() + " FROM reservations" + where.Clause()
	if order != "" {
		query += " ORDER BY " + order
	}
	err = l.each(ctx, query, where.Args, func(rows *sql.Rows) error {
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

// Held returns the open reservations of a user and of some accounts, each with the greatest cost of
// its idle nodes. It leaves out plans without a job that have lapsed at the time now: see
// ErrLapsed. The case of account names does not matter.
func (l *Ledger) Held(ctx context.Context, now int64, user string, accounts ...string) ([]policy.Held, error) {
	where := "p.user = ?"
	args := []any{now - bindsFor, user}
	for _, account := range accounts {
		where += " OR p.account = ? COLLATE NOCASE"
		args = append(args, account)
	}
	var list []policy.Held
	err := l.each(ctx, `SELECT p.user, p.account, p.partition, p.qos, p.work_limit, p.hold_until, p.work_node_seconds, coalesce(b.earliest, p.earliest)
		FROM plans p LEFT JOIN bindings b ON b.plan = p.id WHERE p.open AND (b.job IS NOT NULL OR p.withdrawn = 0 AND p.promised_at >= ?) AND (`+where+")", args, func(rows *sql.Rows) error {
		var h policy.Held
		var p api.Plan
		var earliest int64
		if err := rows.Scan(&h.User, &h.Account, &h.Partition, &h.QOS, &p.WorkLimit, &p.HoldUntil, &p.Work.NodeSeconds, &earliest); err != nil {
			return err
		}
		h.NodeSeconds = p.Idle(earliest).NodeSeconds
		list = append(list, h)
		return nil
	})
	return list, err
}

// mostEvents bounds how many events of a plan are read.
const mostEvents = 500

// Events returns the latest events of a plan, oldest first. It cuts texts, because an earlier
// version of varqd may have written longer ones.
func (l *Ledger) Events(ctx context.Context, plan string) ([]Event, error) {
	var events []Event
	err := l.each(ctx, `SELECT at, kind, substr(text, 1, ?) FROM (
		SELECT *, lead(kind) OVER (ORDER BY id) AS next FROM events WHERE plan = ?
		) WHERE kind <> ? OR next IS NOT kind ORDER BY id DESC LIMIT ?`, []any{mostText, plan, string(Trimmed), mostEvents}, func(rows *sql.Rows) error {
		var e Event
		if err := rows.Scan(&e.At, &e.Kind, &e.Text); err != nil {
			return err
		}
		events = append(events, e)
		return nil
	})
	slices.Reverse(events)
	return events, err
}

// First returns when the ledger's first promise was made. It reports false if the ledger has no
// promise.
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
