package faultscore

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/varq-project/varq/predictor/forecast/fault"
	"github.com/varq-project/varq/predictor/forecast/score"
	"github.com/varq-project/varq/predictor/live/sqlitefile"
)

// mostDays is for how many days scores are stored.
const mostDays = 400

// Store has the forecasts of failures and their scores in a file. Its methods may be called
// concurrently.
type Store struct{ db *sqlitefile.File }

// NewStore returns the forecasts of failures in a file that statefile.Open has opened.
func NewStore(file *sqlitefile.File) *Store { return &Store{file} }

// news is what is new at a time.
type news struct {
	at      int64
	failed  []fault.Event
	there   map[string]bool // the nodes that there are
	over    []int64         // rounds that are to be scored
	dropped []int64         // rounds that cannot be scored
	kept    []int64         // the other rounds
	begun   *Forecasts      // what a new round says, or nil
}

func (n *news) empty() bool {
	return len(n.failed)+len(n.over)+len(n.dropped) == 0 && n.begun == nil
}

// done is what has come of it.
type done struct {
	scored map[string]int     // forecasts, by forecaster
	parts  map[string]float64 // as in Scorer; nil if nothing has changed
}

// record writes what is new in one transaction.
func (s *Store) record(ctx context.Context, n news) (d done, err error) {
	err = s.db.Write(ctx, func(tx *sql.Tx) error {
		t := transaction{ctx, tx}
		for _, f := range n.failed {
			if err := t.do(`INSERT OR IGNORE INTO fault_failures (node, at) VALUES (?,?)`, f.Node, f.At); err != nil {
				return err
			}
		}
		d = done{scored: map[string]int{}}
		for _, at := range n.over {
			if err := t.score(at, n.there, &d); err != nil {
				return err
			}
		}
		for _, at := range slices.Concat(n.over, n.dropped) {
			if err := t.do(`DELETE FROM fault_rounds WHERE at = ?`, at); err != nil {
				return err
			}
		}
		if n.begun != nil {
			if err := t.begin(n.at, n.begun); err != nil {
				return err
			}
		}
		if err := t.do(`DELETE FROM fault_failures WHERE at < (SELECT coalesce(min(at), ?) FROM fault_rounds)`, n.at); err != nil {
			return err
		}
		return t.do(`DELETE FROM fault_scores WHERE day < ?`, score.Day(n.at)-mostDays)
	})
	if err != nil {
		return done{}, wrap(err)
	}
	return d, nil
}

// wrap says in an error what cannot be read or written.
func wrap(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("fault scores: %w", err)
}

// transaction is one transaction.
type transaction struct {
	ctx context.Context
	*sql.Tx
}

func (t transaction) do(statement string, args ...any) error {
	_, err := t.ExecContext(t.ctx, statement, args...)
	return err
}

// score scores the round at a time. One that makes no sense has no scores.
func (t transaction) score(at int64, there map[string]bool, d *done) error {
	r, err := t.round(at)
	if err != nil || r == nil {
		return err
	}
	failures := map[string]int64{}
	err = sqlitefile.Each(t.ctx, t, `SELECT node, min(at) FROM fault_failures WHERE at >= ? AND at < ? GROUP BY node`, []any{at, at + span}, func(rows *sql.Rows) error {
		var node string
		var failed int64
		err := rows.Scan(&node, &failed)
		failures[node] = failed
		return err
	})
	if err != nil {
		return err
	}
	for forecaster, sums := range r.scores(there, failures) {
		count := sums.All().N
		if count == 0 {
			continue
		}
		if err := t.add(score.Day(at), forecaster, sums); err != nil {
			return err
		}
		d.scored[forecaster] += count
	}
	return t.vote(r, there, failures, d)
}

// round returns the round at a time, or nil if it makes no sense.
func (t transaction) round(at int64) (*round, error) {
	var text []byte
	if err := t.QueryRowContext(t.ctx, `SELECT round FROM fault_rounds WHERE at = ?`, at).Scan(&text); err != nil {
		return nil, err
	}
	r := &round{}
	if json.Unmarshal(text, r) != nil || !r.sound() {
		return nil, nil
	}
	return r, nil
}

// add adds to the sums of a day and forecaster.
func (t transaction) add(day int64, forecaster string, sums *score.Faults) error {
	var text []byte
	err := t.QueryRowContext(t.ctx, `SELECT sums FROM fault_scores WHERE day = ? AND forecaster = ?`, day, forecaster).Scan(&text)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	var before score.Faults
	if err == nil && json.Unmarshal(text, &before) == nil {
		sums.Plus(&before)
	}
	if text, err = json.Marshal(sums); err != nil {
		return err
	}
	return t.do(`INSERT OR REPLACE INTO fault_scores (day, forecaster, sums) VALUES (?,?,?)`, day, forecaster, string(text))
}

// vote lets the vote learn from a round, if there is anybody besides the model.
func (t transaction) vote(r *round, there map[string]bool, failures map[string]int64, d *done) error {
	voters := []string{Model}
	for _, forecaster := range slices.Sorted(maps.Keys(r.Said)) {
		if !BuiltIn(forecaster) {
			voters = append(voters, forecaster)
		}
	}
	if len(voters) == 1 {
		return nil
	}
	parts, err := readParts(t.ctx, t)
	if err != nil {
		return err
	}
	vote := fault.Vote{1}
	for _, forecaster := range voters[1:] {
		part, ok := parts[forecaster]
		if !ok {
			part = newcomer
		}
		vote = append(vote, part)
		vote[0] -= part
	}
	vote[0] = max(vote[0], newcomer)
	vote.Learn(r.losses(voters, there, failures))
	if err := t.do(`DELETE FROM fault_votes`); err != nil {
		return err
	}
	d.parts = map[string]float64{}
	for i, forecaster := range voters[1:] {
		d.parts[forecaster] = vote[i+1]
		if err := t.do(`INSERT INTO fault_votes (forecaster, part) VALUES (?,?)`, forecaster, vote[i+1]); err != nil {
			return err
		}
	}
	return nil
}

// begin stores a new round, with the alarm levels that the scores until now suggest.
func (t transaction) begin(at int64, f *Forecasts) error {
	sums := map[string]*score.Faults{}
	err := eachDay(t.ctx, t, 0, 0, func(d *score.DayFaults) {
		if sums[d.Forecaster] == nil {
			sums[d.Forecaster] = &score.Faults{}
		}
		sums[d.Forecaster].Plus(&d.Faults)
	})
	if err != nil {
		return err
	}
	levels := map[string]float64{}
	for forecaster, s := range sums {
		levels[forecaster] = s.Level()
	}
	var newest sql.NullInt64
	if err := t.QueryRowContext(t.ctx, `SELECT max(at) FROM fault_rounds`).Scan(&newest); err != nil {
		return err
	}
	var last *round
	if newest.Valid {
		if last, err = t.round(newest.Int64); err != nil {
			return err
		}
	}
	text, err := json.Marshal(newRound(at, *f, last, levels))
	if err != nil {
		return err
	}
	return t.do(`INSERT OR REPLACE INTO fault_rounds (at, round) VALUES (?,?)`, at, string(text))
}

// rounds returns the times of the rounds, ascending.
func (s *Store) rounds(ctx context.Context) (list []int64, err error) {
	err = sqlitefile.Each(ctx, s.db, `SELECT at FROM fault_rounds ORDER BY at`, nil, func(rows *sql.Rows) error {
		var at int64
		err := rows.Scan(&at)
		list = append(list, at)
		return err
	})
	return list, wrap(err)
}

// parts returns the parts in the vote, by forecaster.
func (s *Store) parts(ctx context.Context) (map[string]float64, error) {
	parts, err := readParts(ctx, s.db)
	return parts, wrap(err)
}

func readParts(ctx context.Context, from sqlitefile.Reader) (map[string]float64, error) {
	parts := map[string]float64{}
	return parts, sqlitefile.Each(ctx, from, `SELECT forecaster, part FROM fault_votes`, nil, func(rows *sql.Rows) error {
		var forecaster string
		var part float64
		err := rows.Scan(&forecaster, &part)
		parts[forecaster] = part
		return err
	})
}

// days returns the scores of the days from <= day < to; to 0 is without end.
func (s *Store) days(ctx context.Context, from, to int64) (list []score.DayFaults, err error) {
	err = eachDay(ctx, s.db, from, to, func(d *score.DayFaults) { list = append(list, *d) })
	return list, wrap(err)
}

// eachDay calls do for the scores of each day and forecaster, but for those that make no sense.
func eachDay(ctx context.Context, from sqlitefile.Reader, first, end int64, do func(*score.DayFaults)) error {
	var w sqlitefile.Where
	w.And(true, "day >= ?", first)
	w.And(end != 0, "day < ?", end)
	return sqlitefile.Each(ctx, from, `SELECT day, forecaster, sums FROM fault_scores`+w.Clause()+` ORDER BY day, forecaster`, w.Args, func(rows *sql.Rows) error {
		var d score.DayFaults
		var text []byte
		if err := rows.Scan(&d.Day, &d.Forecaster, &text); err != nil {
			return err
		}
		if json.Unmarshal(text, &d.Faults) == nil {
			do(&d)
		}
		return nil
	})
}
