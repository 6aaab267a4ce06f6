package ledger

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"github.com/varq-project/varq/predictor/forecast/score"
)

// Scores selects sums of scored forecasts; an empty field selects all.
type Scores struct {
	Forecaster, Partition, Class string
	From, To                     int64 // days: From <= day < To; To 0 is without end
	// ByPartition and ByClass tell partitions and classes apart; else they are
	// added up under the name "".
	ByPartition, ByClass bool
}

// columns returns the columns that tell the sums apart, of which the first is the
// day.
func (q *Scores) columns(day string) string {
	columns := []string{day, "forecaster", "''", "''"}
	if q.ByPartition {
		columns[2] = "partition"
	}
	if q.ByClass {
		columns[3] = "class"
	}
	return strings.Join(columns, ", ")
}

func (q *Scores) where(day string) (clause string, args []any) {
	conditions := []string{day + " >= ?"}
	args = []any{q.From}
	add := func(when bool, condition string, arg any) {
		if when {
			conditions = append(conditions, condition)
			args = append(args, arg)
		}
	}
	add(q.To != 0, day+" < ?", q.To)
	add(q.Forecaster != "", "forecaster = ?", q.Forecaster)
	add(q.Partition != "", "partition = ?", q.Partition)
	add(q.Class != "", "class = ?", q.Class)
	return " WHERE " + strings.Join(conditions, " AND "), args
}

// Scored returns the sums of scored forecasts, by day.
func (l *Ledger) Scored(ctx context.Context, q Scores) (score.Table, error) {
	table := score.Table{}
	clause, args := q.where("day")
	tail := clause + ` GROUP BY 1, 2, 3, 4, 5`
	err := l.each(ctx, `SELECT `+q.columns("day")+`, level, sum(n), sum(covered), sum(pinball) FROM coverage`+tail, args, func(rows *sql.Rows) error {
		var k score.Key
		var quantile float64
		var n int
		var level score.Level
		if err := rows.Scan(&k.Day, &k.Forecaster, &k.Partition, &k.Class, &quantile, &n, &level.Covered, &level.Pinball); err != nil {
			return err
		}
		if i := slices.Index(score.Levels[:], quantile); i >= 0 {
			sums := table.At(k)
			sums.Forecasts, sums.Levels[i] = n, level
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	err = l.each(ctx, `SELECT `+q.columns("day")+`, bin, sum(n), sum(predicted), sum(came_true), sum(squares) FROM reliability`+tail, args, func(rows *sql.Rows) error {
		var k score.Key
		var i int
		var bin score.Bin
		if err := rows.Scan(&k.Day, &k.Forecaster, &k.Partition, &k.Class, &i, &bin.N, &bin.Predicted, &bin.True, &bin.Squares); err != nil {
			return err
		}
		if i >= 0 && i < score.Bins {
			table.At(k).Bins[i] = bin
		}
		return nil
	})
	return table, err
}

// Unscored counts the forecasts of jobs that still wait at now, by day.
func (l *Ledger) Unscored(ctx context.Context, q Scores, now int64) (map[score.Key]score.Unscored, error) {
	counts := map[score.Key]score.Unscored{}
	clause, args := q.where("eligible / 86400")
	err := l.each(ctx, `SELECT `+q.columns("eligible / 86400")+`, count(*), sum(due < ?) FROM forecasts`+clause+` GROUP BY 1, 2, 3, 4`,
		append([]any{now}, args...), func(rows *sql.Rows) error {
			var k score.Key
			var u score.Unscored
			if err := rows.Scan(&k.Day, &k.Forecaster, &k.Partition, &k.Class, &u.Open, &u.Overdue); err != nil {
				return err
			}
			counts[k] = u
			return nil
		})
	return counts, err
}

// Forecasts returns the jobs whose forecasts have not been scored, and when the wait
// of each began.
func (l *Ledger) Forecasts(ctx context.Context) (map[Run]int64, error) {
	runs := map[Run]int64{}
	err := l.each(ctx, `SELECT DISTINCT job, submit, eligible FROM forecasts`, nil, func(rows *sql.Rows) error {
		var run Run
		var eligible int64
		if err := rows.Scan(&run.Job, &run.Submit, &eligible); err != nil {
			return err
		}
		runs[run] = eligible
		return nil
	})
	return runs, err
}

// each hands the rows of a query to do.
func (l *Ledger) each(ctx context.Context, query string, args []any, do func(*sql.Rows) error) error {
	rows, err := l.db.QueryContext(ctx, query, args...)
	if err != nil {
		return fmt.Errorf("ledger: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := do(rows); err != nil {
			return fmt.Errorf("ledger: %w", err)
		}
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("ledger: %w", err)
	}
	return nil
}
