package ledger

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/varq-project/varq/predictor/live/sqlitefile"
)

// A settled promise without a job is kept for keptUnused seconds after it was settled. Of each
// user's, only the latest mostUnused are kept.
const (
	keptUnused = 86400
	mostUnused = 100
)

// atOnce is how many promises one Forget deletes, so that no other write waits for long.
const atOnce = 1000

// Forget deletes settled promises that no job has ever taken up or named. Otherwise anybody could
// fill the ledger by making promises and taking them back. After one call there may be more to
// delete. The ledger keeps all other promises for ever.
func (l *Ledger) Forget(ctx context.Context, now int64) error {
	var plans []string
	err := l.each(ctx, `SELECT id FROM (
		SELECT s.plan AS id, s.at, row_number() OVER (PARTITION BY p.user ORDER BY s.at DESC, s.plan) AS place
		FROM settlements s JOIN plans p ON p.id = s.plan
		WHERE s.run = 0 AND s.refused = 0 AND NOT EXISTS (SELECT 1 FROM bindings b WHERE b.plan = s.plan)
		) WHERE at < ? OR place > ? LIMIT ?`, []any{now - keptUnused, mostUnused, atOnce}, func(rows *sql.Rows) error {
		var plan string
		if err := rows.Scan(&plan); err != nil {
			return err
		}
		plans = append(plans, plan)
		return nil
	})
	if err != nil || len(plans) == 0 {
		return err
	}
	err = l.db.Write(ctx, func(tx *sql.Tx) error {
		for _, part := range []struct{ table, plan string }{{"events", "plan"}, {"settlements", "plan"}, {"plans", "id"}} {
			var these sqlitefile.Where
			these.In(part.plan, plans)
			if _, err := tx.ExecContext(ctx, "DELETE FROM "+part.table+these.Clause(), these.Args...); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("ledger: forget what no job has taken up: %w", err)
	}
	return nil
}
