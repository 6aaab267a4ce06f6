package flows

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/live/sqlitefile"
)

// MaxOpen is the greatest number of promises of one user's flows that are open.
const MaxOpen = 100

// kept is for how many seconds promises that are settled can be read.
const kept = 90 * 24 * 3600

// errTooMany is the error of add for a user who has MaxOpen promises.
var errTooMany = errors.New("too many promises of flows")

// Store has the promises of flows, in a file. Its methods may be called concurrently.
type Store struct{ db *sqlitefile.File }

// NewStore returns the promises in a file that statefile.Open has opened.
func NewStore(file *sqlitefile.File) *Store { return &Store{file} }

// row is a promise.
type row struct{ api.FlowPromise }

// lists are those of a row that are JSON in the file.
type lists struct{ jobs, events string }

func (r *row) columns(l *lists) sqlitefile.Columns {
	return sqlitefile.Columns{
		{Name: "id", Pointer: &r.ID},
		{Name: "user", Pointer: &r.User},
		{Name: "name", Pointer: &r.Name},
		{Name: "jobs", Pointer: &l.jobs},
		{Name: "finish_by", Pointer: &r.FinishBy},
		{Name: "prob", Pointer: &r.Prob},
		{Name: "estimate", Pointer: &r.Estimate},
		{Name: "promised", Pointer: &r.Promised},
		{Name: "state", Pointer: &r.State},
		{Name: "settled", Pointer: &r.Settled},
		{Name: "ended", Pointer: &r.Ended},
		{Name: "note", Pointer: &r.Note},
		{Name: "events", Pointer: &l.events},
	}
}

// each pairs the lists of a row with their texts.
func (r *row) each(l *lists) map[any]*string {
	return map[any]*string{&r.Jobs: &l.jobs, &r.Events: &l.events}
}

// texts returns the lists of a row as text.
func (r *row) texts() (l lists) {
	for list, text := range r.each(&l) {
		b, _ := json.Marshal(list) // never fails
		*text = string(b)
	}
	return l
}

// add writes a new promise. The errors are errTooMany, and errors of the file.
func (s *Store) add(ctx context.Context, r *row) error {
	l := r.texts()
	return wrap(s.db.Write(ctx, func(tx *sql.Tx) error {
		var open int
		if err := tx.QueryRowContext(ctx, `SELECT count(*) FROM flows WHERE user = ? AND state = ?`, r.User, api.StatePending).Scan(&open); err != nil {
			return err
		}
		if open >= MaxOpen {
			return errTooMany
		}
		columns := r.columns(&l)
		_, err := tx.ExecContext(ctx, columns.Insert("flows"), columns.Pointers()...)
		return err
	}))
}

// open returns the promises that are not settled, the oldest first.
func (s *Store) open(ctx context.Context) ([]row, error) {
	return s.list(ctx, "state = ?", api.StatePending)
}

// since returns the promises that are not settled, or were settled since a time, the oldest first:
// of a user, or of all users if it is empty.
func (s *Store) since(ctx context.Context, user string, at int64) ([]row, error) {
	return s.list(ctx, "(state = ? OR settled >= ?) AND (? = '' OR user = ?)", api.StatePending, at, user, user)
}

func (s *Store) list(ctx context.Context, where string, args ...any) (list []row, err error) {
	var r row
	var l lists
	columns := r.columns(&l)
	into := columns.Pointers()
	err = s.db.Each(ctx, "SELECT "+columns.Names()+" FROM flows WHERE "+where+" ORDER BY promised, id", args, func(rows *sql.Rows) error {
		if err := rows.Scan(into...); err != nil {
			return err
		}
		r.Jobs, r.Events = nil, nil
		for list, text := range r.each(&l) {
			if err := json.Unmarshal([]byte(*text), list); err != nil {
				return fmt.Errorf("%s: %w", r.ID, err)
			}
		}
		list = append(list, r)
		return nil
	})
	return list, wrap(err)
}

// record writes what has changed of a promise, and forgets those that were settled long ago.
func (s *Store) record(ctx context.Context, r *row, now int64) error {
	l := r.texts()
	return wrap(s.db.Write(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE flows SET state = ?, settled = ?, ended = ?, note = ?, events = ? WHERE id = ?`, r.State, r.Settled, r.Ended, r.Note, l.events, r.ID)
		if err == nil {
			_, err = tx.ExecContext(ctx, `DELETE FROM flows WHERE state <> ? AND settled < ?`, api.StatePending, now-kept)
		}
		return err
	}))
}

// wrap says in an error what cannot be read or written.
func wrap(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("promises of flows: %w", err)
}
