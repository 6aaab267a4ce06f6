package scores

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/varq-project/varq/predictor/forecast"
)

// Odds returns the list that SetOdds wrote last, or nil.
func (s *Store) Odds(ctx context.Context) ([]forecast.Odds, error) {
	var list []forecast.Odds
	err := s.each(ctx, `SELECT missed, said FROM odds ORDER BY place`, nil, func(rows *sql.Rows) error {
		var o forecast.Odds
		if err := rows.Scan(&o.Missed, &o.Expected); err != nil {
			return err
		}
		list = append(list, o)
		return nil
	})
	return list, err
}

// SetOdds replaces the odds of promises by list. The odds compare how many promises were
// missed with how many were expected to be missed. They are sums over promises, and no
// record of any one promise; the ledger has those.
func (s *Store) SetOdds(ctx context.Context, list []forecast.Odds) error {
	err := s.db.Write(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `DELETE FROM odds`); err != nil {
			return err
		}
		for i, o := range list {
			if _, err := tx.ExecContext(ctx, `INSERT INTO odds (place, missed, said) VALUES (?,?,?)`, i, o.Missed, o.Expected); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("scores: store the odds of promises: %w", err)
	}
	return nil
}
