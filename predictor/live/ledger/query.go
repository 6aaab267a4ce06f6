package ledger

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
)

// Query selects reservations; an empty field selects all.
type Query struct {
	Plan string
	User string
	Job  int64
	// Open selects what is not settled yet, OpenOrSince also what was due since
	// that time.
	Open        bool
	OpenOrSince int64
	// From and To bound the deadline: From <= begin-by < To.
	From, To int64
}

func (q *Query) where() (clause string, args []any) {
	var conditions []string
	add := func(when bool, condition string, arg any) {
		if when {
			conditions = append(conditions, condition)
			args = append(args, arg)
		}
	}
	add(q.Plan != "", "id = ?", q.Plan)
	add(q.User != "", "user = ?", q.User)
	add(q.Job != 0, "id IN (SELECT plan FROM bindings WHERE job = ?)", q.Job)
	add(q.OpenOrSince != 0, "(open OR begin_by >= ?)", q.OpenOrSince)
	add(q.From != 0, "begin_by >= ?", q.From)
	add(q.To != 0, "begin_by < ?", q.To)
	if q.Open {
		conditions = append(conditions, "open")
	}
	if len(conditions) == 0 {
		return "", nil
	}
	return " WHERE " + strings.Join(conditions, " AND "), args
}

// Select returns the reservations that q selects, in order of their deadlines.
func (l *Ledger) Select(ctx context.Context, q Query) ([]Entry, error) {
	clause, args := q.where()
	rows, err := l.db.QueryContext(ctx, `SELECT id, user, account, partition, qos, nodes, cpus, gpus, memory,
		begin_time, time_limit, begin_by, hold_until, work_limit, prob, estimate, best_effort, on_miss,
		work_node_seconds, work_billing_seconds, worst_node_seconds, worst_billing_seconds, expected_node_seconds, expected_billing_seconds,
		sample, class, comment, promised_at, open,
		state, job, submit, set_begin_time, set_time_limit, was_begin, was_limit, held, yielded, late, eligible, start, work_start, end, note
		FROM reservations`+clause+` ORDER BY begin_by, job, id`, args...)
	if err != nil {
		return nil, fmt.Errorf("ledger: %w", err)
	}
	defer rows.Close()
	var entries []Entry
	for rows.Next() {
		entry, err := scan(rows)
		if err != nil {
			return nil, fmt.Errorf("ledger: %w", err)
		}
		entries = append(entries, entry)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("ledger: %w", err)
	}
	return entries, nil
}

func scan(rows *sql.Rows) (Entry, error) {
	var e Entry
	r, p := &e.Reservation, &e.Progress
	err := rows.Scan(&r.ID, &r.User, &r.Account, &r.Partition, &r.QOS, &r.Nodes, &r.CPUs, &r.GPUs, &r.Memory,
		&r.BeginTime, &r.TimeLimit, &r.BeginBy, &r.HoldUntil, &r.WorkLimit, &r.Prob, &r.Estimate, &r.BestEffort, &r.OnMiss,
		&r.Work.NodeSeconds, &r.Work.BillingSeconds, &r.Worst.NodeSeconds, &r.Worst.BillingSeconds, &r.Expected.NodeSeconds, &r.Expected.BillingSeconds,
		&r.Sample, &r.Class, &r.Comment, &r.Promised, &e.Open,
		&p.State, &r.Job, &p.Submit, &p.BeginTime, &p.TimeLimit, &p.WasBegin, &p.WasLimit, &p.Held, &p.Yielded, &p.Late, &p.Eligible, &p.Start, &p.WorkStart, &r.End, &r.Note)
	r.State, r.Eligible, r.Start, r.WorkStart = p.State, p.Eligible, p.Start, p.WorkStart
	return e, err
}

// Events returns what happened to a plan, oldest first.
func (l *Ledger) Events(ctx context.Context, plan string) ([]Event, error) {
	rows, err := l.db.QueryContext(ctx, `SELECT at, kind, text FROM events WHERE plan = ? ORDER BY id`, plan)
	if err != nil {
		return nil, fmt.Errorf("ledger: %w", err)
	}
	defer rows.Close()
	var events []Event
	for rows.Next() {
		var e Event
		if err := rows.Scan(&e.At, &e.Kind, &e.Text); err != nil {
			return nil, fmt.Errorf("ledger: %w", err)
		}
		events = append(events, e)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("ledger: %w", err)
	}
	return events, nil
}

// Outcomes returns how many promises stand in each of api's states.
func (l *Ledger) Outcomes(ctx context.Context) (map[string]int, error) {
	rows, err := l.db.QueryContext(ctx, `SELECT state, count(*) FROM (
		SELECT outcome AS state FROM settlements
		UNION ALL SELECT coalesce(b.state, 'PROMISED') FROM plans p LEFT JOIN bindings b ON b.plan = p.id WHERE p.open
		) GROUP BY state`)
	if err != nil {
		return nil, fmt.Errorf("ledger: %w", err)
	}
	defer rows.Close()
	counts := map[string]int{}
	for rows.Next() {
		var state string
		var n int
		if err := rows.Scan(&state, &n); err != nil {
			return nil, fmt.Errorf("ledger: %w", err)
		}
		counts[state] = n
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("ledger: %w", err)
	}
	return counts, nil
}
