package scores

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"github.com/varq-project/varq/predictor/forecast/score"
	"github.com/varq-project/varq/predictor/live/sqlitefile"
)

// Query selects scored forecasts; an empty field selects all.
type Query struct {
	Forecaster, Partition, Class string
	From, To                     int64 // days: From <= day < To; To 0 is without end
	// ByPartition and ByClass give each partition and each class sums of its own.
	// Without ByPartition the sums of all partitions are added up under the name "", and
	// those of classes without ByClass.
	ByPartition, ByClass bool
}

// columns returns the columns by which the sums are grouped: day (an SQL expression),
// forecaster, partition and class.
func (q *Query) columns(day string) string {
	columns := []string{day, "forecaster", "''", "''"}
	if q.ByPartition {
		columns[2] = "partition"
	}
	if q.ByClass {
		columns[3] = "class"
	}
	return strings.Join(columns, ", ")
}

func (q *Query) where(day string) (w sqlitefile.Where) {
	w.And(true, day+" >= ?", q.From)
	w.And(q.To != 0, day+" < ?", q.To)
	w.And(q.Forecaster != "", "forecaster = ?", q.Forecaster)
	w.And(q.Partition != "", "partition = ?", q.Partition)
	w.And(q.Class != "", "class = ?", q.Class)
	return w
}

// Scored returns the sums of the scored forecasts that q selects, by day.
func (s *Store) Scored(ctx context.Context, q Query) (score.Table, error) {
	table := score.Table{}
	where := q.where("day")
	tail := where.Clause() + ` GROUP BY 1, 2, 3, 4, 5`
	err := s.each(ctx, `SELECT `+q.columns("day")+`, level, sum(n), sum(covered), sum(pinball) FROM coverage`+tail, where.Args, func(rows *sql.Rows) error {
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
	err = s.each(ctx, `SELECT `+q.columns("day")+`, bin, sum(n), sum(predicted), sum(came_true), sum(squares) FROM reliability`+tail, where.Args, func(rows *sql.Rows) error {
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
	if err != nil {
		return nil, err
	}
	err = s.each(ctx, `SELECT `+q.columns("day")+`, said, sum(n), sum(minute), sum(ten_minutes), sum(double), sum(log_error) FROM near`+tail, where.Args, func(rows *sql.Rows) error {
		var k score.Key
		var said string
		var n score.Nearness
		if err := rows.Scan(&k.Day, &k.Forecaster, &k.Partition, &k.Class, &said, &n.Forecasts, &n.Minute, &n.TenMinutes, &n.Double, &n.LogError); err != nil {
			return err
		}
		if i := slices.Index(score.Said[:], said); i >= 0 {
			table.At(k).Near[i] = n
		}
		return nil
	})
	return table, err
}

// Unscored counts the forecasts that q selects and that are not scored at the time now, as their
// jobs still wait or, of ends, have not ended. The counts are by the day on which the wait began.
func (s *Store) Unscored(ctx context.Context, q Query, now int64) (map[score.Key]score.Unscored, error) {
	counts := map[score.Key]score.Unscored{}
	where := q.where("eligible / 86400")
	err := s.each(ctx, `SELECT `+q.columns("eligible / 86400")+`, count(*), sum(due < ?) FROM forecasts`+where.Clause()+` GROUP BY 1, 2, 3, 4`,
		append([]any{now}, where.Args...), func(rows *sql.Rows) error {
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

// each calls do for each row of a query.
func (s *Store) each(ctx context.Context, query string, args []any, do func(*sql.Rows) error) error {
	if err := s.db.Each(ctx, query, args, do); err != nil {
		return fmt.Errorf("scores: %w", err)
	}
	return nil
}
