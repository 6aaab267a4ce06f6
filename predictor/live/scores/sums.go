package scores

import (
	"cmp"
	"context"
	"database/sql"
	"maps"
	"slices"

	"github.com/varq-project/varq/predictor/forecast/score"
)

// addSums adds sums to the tables, in the order of their keys.
func addSums(ctx context.Context, tx *sql.Tx, sums score.Table) error {
	keys := slices.SortedFunc(maps.Keys(sums), func(a, b score.Key) int {
		return cmp.Or(cmp.Compare(a.Day, b.Day), cmp.Compare(a.Forecaster, b.Forecaster), cmp.Compare(a.Partition, b.Partition), cmp.Compare(a.Class, b.Class))
	})
	for _, k := range keys {
		bounded, err := bound(ctx, tx, k)
		if err != nil {
			return err
		}
		s := sums[k]
		for i, level := range s.Levels {
			if _, err := tx.ExecContext(ctx, `INSERT INTO coverage (day, forecaster, partition, class, level, n, covered, pinball)
				VALUES (?,?,?,?,?,?,?,?) ON CONFLICT DO UPDATE SET
				n = n + excluded.n, covered = covered + excluded.covered, pinball = pinball + excluded.pinball`,
				bounded.Day, bounded.Forecaster, bounded.Partition, bounded.Class, score.Levels[i], s.Forecasts, level.Covered, level.Pinball); err != nil {
				return err
			}
		}
		for i, bin := range s.Bins {
			if bin.N == 0 {
				continue
			}
			if _, err := tx.ExecContext(ctx, `INSERT INTO reliability (day, forecaster, partition, class, bin, n, predicted, came_true, squares)
				VALUES (?,?,?,?,?,?,?,?,?) ON CONFLICT DO UPDATE SET
				n = n + excluded.n, predicted = predicted + excluded.predicted, came_true = came_true + excluded.came_true, squares = squares + excluded.squares`,
				bounded.Day, bounded.Forecaster, bounded.Partition, bounded.Class, i, bin.N, bin.Predicted, bin.True, bin.Squares); err != nil {
				return err
			}
		}
		for i, n := range s.Near {
			if n.Forecasts == 0 {
				continue
			}
			if _, err := tx.ExecContext(ctx, `INSERT INTO near (day, forecaster, partition, class, said, n, minute, ten_minutes, double, log_error)
				VALUES (?,?,?,?,?,?,?,?,?,?) ON CONFLICT DO UPDATE SET
				n = n + excluded.n, minute = minute + excluded.minute, ten_minutes = ten_minutes + excluded.ten_minutes,
				double = double + excluded.double, log_error = log_error + excluded.log_error`,
				bounded.Day, bounded.Forecaster, bounded.Partition, bounded.Class, score.Said[i], n.Forecasts, n.Minute, n.TenMinutes, n.Double, n.LogError); err != nil {
				return err
			}
		}
	}
	return nil
}

// bound returns the key under which the sums of k are stored. It is k, or the key of Others
// if k is new and the forecaster has mostClasses keys in that day.
func bound(ctx context.Context, tx *sql.Tx, k score.Key) (score.Key, error) {
	var known bool
	var classes int
	if err := tx.QueryRowContext(ctx, `SELECT coalesce(max(partition = ? AND class = ?), 0), count(*) FROM coverage
		WHERE day = ? AND forecaster = ? AND level = ?`,
		k.Partition, k.Class, k.Day, k.Forecaster, score.Levels[0]).Scan(&known, &classes); err != nil {
		return k, err
	}
	if !known && classes >= mostClasses {
		k.Partition, k.Class = Others, Others
	}
	return k, nil
}
