package scores

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/varq-project/varq/predictor/forecast/flow"
)

// Courses is the forecaster of how much longer a job waits that waits for others, as package flow
// draws it. What users are told replaces its probabilities by what Store.Courses has learnt of
// them.
const Courses = "courses"

// Courses returns what the outcomes of the forecaster Courses have taught. It must not be changed.
func (s *Store) Courses(ctx context.Context) (*flow.Learnt, error) {
	if known := s.courses.Load(); known != nil {
		return known, nil
	}
	var text []byte
	err := s.each(ctx, selectLearnt, []any{Courses}, func(rows *sql.Rows) error { return rows.Scan(&text) })
	if err != nil {
		return nil, err
	}
	learnt, err := parseLearnt(text)
	if err != nil {
		return nil, err
	}
	s.courses.CompareAndSwap(nil, learnt)
	return s.courses.Load(), nil
}

const selectLearnt = `SELECT outcomes FROM learnt WHERE forecaster = ?`

// parseLearnt returns what was stored as a text, and nothing learnt if that is empty.
func parseLearnt(text []byte) (*flow.Learnt, error) {
	learnt := flow.NewLearnt()
	if len(text) == 0 {
		return learnt, nil
	}
	err := json.Unmarshal(text, learnt)
	if err == nil {
		err = learnt.Check()
	}
	if err != nil {
		return nil, fmt.Errorf("scores: what was learnt of %s: %w", Courses, err)
	}
	return learnt, nil
}

// learn learns from the ranks of waits that were forecast by Courses, and stores the result. It
// returns nil if there are none.
func learn(ctx context.Context, tx *sql.Tx, ranks []Rank) (learnt *flow.Learnt, err error) {
	for _, r := range ranks {
		if r.Forecaster != Courses {
			continue
		}
		if learnt == nil {
			var text []byte
			if err := tx.QueryRowContext(ctx, selectLearnt, Courses).Scan(&text); err != nil && !errors.Is(err, sql.ErrNoRows) {
				return nil, err
			}
			if learnt, err = parseLearnt(text); err != nil {
				return nil, err
			}
		}
		if of := learnt.OfClass(r.Class); of != nil {
			of.LearnRank(r.Rank, r.Start)
		}
	}
	if learnt == nil {
		return nil, nil
	}
	text, err := json.Marshal(learnt)
	if err == nil {
		_, err = tx.ExecContext(ctx, `INSERT OR REPLACE INTO learnt (forecaster, outcomes) VALUES (?,?)`, Courses, string(text))
	}
	return learnt, err
}
