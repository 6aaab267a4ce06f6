package ledger

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/varq-project/varq/predictor/forecast"
)

// Odds returns what SetOdds wrote down last, nothing if it never did.
func (l *Ledger) Odds(ctx context.Context) ([]forecast.Odds, error) {
	var list []forecast.Odds
	err := l.each(ctx, `SELECT missed, said FROM odds ORDER BY place`, nil, func(rows *sql.Rows) error {
		var o forecast.Odds
		if err := rows.Scan(&o.Missed, &o.Said); err != nil {
			return err
		}
		list = append(list, o)
		return nil
	})
	return list, err
}

// SetOdds writes down what has become of promises, as forecast.Predictor's Odds
// tells it, in the place of what was known before.
func (l *Ledger) SetOdds(ctx context.Context, list []forecast.Odds) error {
	err := l.db.Write(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `DELETE FROM odds`); err != nil {
			return err
		}
		for i, o := range list {
			if _, err := tx.ExecContext(ctx, `INSERT INTO odds (place, missed, said) VALUES (?,?,?)`, i, o.Missed, o.Said); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("ledger: write down what has become of promises: %w", err)
	}
	return nil
}
