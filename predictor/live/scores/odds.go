package scores

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/varq-project/varq/predictor/forecast"
)

// Odds returns the list that SetOdds wrote last, by user and range, or nil.
func (s *Store) Odds(ctx context.Context) ([]forecast.Odds, error) {
	var list []forecast.Odds
	err := s.each(ctx, `SELECT user, place, missed, expected FROM odds ORDER BY user, place`, nil, func(rows *sql.Rows) error {
		var o forecast.Odds
		if err := rows.Scan(&o.User, &o.Range, &o.Missed, &o.Expected); err != nil {
			return err
		}
		list = append(list, o)
		return nil
	})
	return list, err
}

// SetOdds replaces the odds of promises by list, which has at most one for each user and range.
// The odds compare how many promises were
// missed with how many were expected to be missed. They are sums over promises, and no
// record of any one promise; the ledger has those.
func (s *Store) SetOdds(ctx context.Context, list []forecast.Odds) error {
	err := s.db.Write(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `DELETE FROM odds`); err != nil {
			return err
		}
		for _, o := range list {
			if _, err := tx.ExecContext(ctx, `INSERT INTO odds (user, place, missed, expected) VALUES (?,?,?,?)`, o.User, o.Range, o.Missed, o.Expected); err != nil {
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
