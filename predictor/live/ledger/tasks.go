package ledger

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"

	"github.com/varq-project/varq/predictor/live/sqlitefile"
)

// TaskRun is a task of an array that has started: the present run of it, if Slurm has requeued it.
type TaskRun struct {
	Job   int64 // the number of the task itself, and not of the array
	Start int64
	// Gone is when the queue no longer showed the task, or 0.
	Gone  int64
	Nodes int32
}

// RunningTasks returns how many tasks of the array of an open promise run, as far as was seen.
func (e *Entry) RunningTasks() (n int32) {
	for _, t := range e.TaskRuns {
		if t.Gone == 0 {
			n++
		}
	}
	return n
}

// SetTasks writes tasks of a plan's array that have started, or are gone. It forgets those whose
// Start is 0: they wait again.
func (l *Ledger) SetTasks(ctx context.Context, plan string, tasks []TaskRun) error {
	defer l.book.changed(plan)
	err := l.db.Write(ctx, func(tx *sql.Tx) error {
		for _, t := range tasks {
			var err error
			if t.Start == 0 {
				_, err = tx.ExecContext(ctx, `DELETE FROM tasks WHERE plan = ? AND job = ?`, plan, t.Job)
			} else {
				_, err = tx.ExecContext(ctx, `INSERT OR REPLACE INTO tasks (plan, job, start, gone, nodes) VALUES (?,?,?,?,?)`, plan, t.Job, t.Start, t.Gone, t.Nodes)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("ledger: tasks of plan %s: %w", plan, err)
	}
	return nil
}

// Shrink makes an open promise about an array one about fewer of its tasks, at the costs of these.
// No more of them are left.
func (l *Ledger) Shrink(ctx context.Context, e *Entry, tasks int32, event Event) error {
	defer l.book.changed(e.ID)
	share := float64(tasks) / float64(e.Tasks)
	err := l.db.Write(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE plans SET tasks = ?1, array_tasks = ?1, tasks_nodes = ?2,
			work_node_seconds = work_node_seconds * ?3, work_billing_seconds = work_billing_seconds * ?3,
			worst_node_seconds = worst_node_seconds * ?3, worst_billing_seconds = worst_billing_seconds * ?3,
			expected_node_seconds = expected_node_seconds * ?3, expected_billing_seconds = expected_billing_seconds * ?3
			WHERE id = ?4 AND open`, tasks, e.NodesOf(tasks), share, e.ID)
		if err != nil {
			return err
		}
		return appendEvents(ctx, tx, e.ID, []Event{event})
	})
	if err != nil {
		return fmt.Errorf("ledger: fewer tasks of plan %s: %w", e.ID, err)
	}
	return nil
}

// readTasks reads the TaskRuns of the open promises about arrays among entries.
func (l *Ledger) readTasks(ctx context.Context, entries []Entry) error {
	byPlan := map[string]*Entry{}
	var plans []string
	for i := range entries {
		if e := &entries[i]; e.Open && e.Tasks > 0 && e.Job != 0 {
			byPlan[e.ID], plans = e, append(plans, e.ID)
		}
	}
	if len(plans) == 0 {
		return nil
	}
	where := sqlitefile.Where{}
	where.In("plan", plans)
	err := l.each(ctx, "SELECT plan, job, start, gone, nodes FROM tasks"+where.Clause(), where.Args, func(rows *sql.Rows) error {
		var plan string
		var t TaskRun
		if err := rows.Scan(&plan, &t.Job, &t.Start, &t.Gone, &t.Nodes); err != nil {
			return err
		}
		byPlan[plan].TaskRuns = append(byPlan[plan].TaskRuns, t)
		return nil
	})
	for _, e := range byPlan {
		slices.SortFunc(e.TaskRuns, func(a, b TaskRun) int { return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.Job, b.Job)) })
	}
	return err
}
