package resize

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/live/sqlitefile"
)

// MaxOpen is the greatest number of jobs of one user whose size is not locked in.
const MaxOpen = 1000

// errTooMany is the error of add for a user who has MaxOpen jobs.
var errTooMany = errors.New("too many jobs whose size is not locked in")

// Store has the jobs whose size is not locked in, in a file. Its methods may be called
// concurrently.
type Store struct{ db *sqlitefile.File }

// NewStore returns the jobs in a file that statefile.Open has opened.
func NewStore(file *sqlitefile.File) *Store { return &Store{file} }

// row is a job whose size is not locked in. Times are Unix seconds.
type row struct {
	id, user string
	made     int64
	request  api.SizeRequest
	// nodes says which size of request the job has. was, if not 0, says which it had before a
	// change of which the queue has not shown yet what has become.
	nodes, was int32
	// job and submit are the job's, 0 until the queue has shown it.
	job, submit int64
	// asks is what the job asked for then, besides its size.
	asks string
	// counts is what Slurm has counted of the size that the job has, when the queue showed that
	// first.
	counts string
}

func (m *row) columns(request *string) sqlitefile.Columns {
	return sqlitefile.Columns{
		{Name: "id", Pointer: &m.id},
		{Name: "user", Pointer: &m.user},
		{Name: "made", Pointer: &m.made},
		{Name: "request", Pointer: request},
		{Name: "nodes", Pointer: &m.nodes},
		{Name: "was", Pointer: &m.was},
		{Name: "job", Pointer: &m.job},
		{Name: "submit", Pointer: &m.submit},
		{Name: "asks", Pointer: &m.asks},
		{Name: "counts", Pointer: &m.counts},
	}
}

// add writes a new job. The errors are errTooMany, and errors of the file.
func (s *Store) add(ctx context.Context, m *row) error {
	text, err := json.Marshal(&m.request)
	if err != nil {
		return wrap(err)
	}
	request := string(text)
	return wrap(s.db.Write(ctx, func(tx *sql.Tx) error {
		var open int
		if err := tx.QueryRowContext(ctx, `SELECT count(*) FROM resizes WHERE user = ?`, m.user).Scan(&open); err != nil {
			return err
		}
		if open >= MaxOpen {
			return errTooMany
		}
		columns := m.columns(&request)
		_, err := tx.ExecContext(ctx, columns.Insert("resizes"), columns.Pointers()...)
		return err
	}))
}

// all returns all jobs, the oldest first.
func (s *Store) all(ctx context.Context) (list []row, err error) {
	var m row
	var request string
	columns := m.columns(&request)
	into := columns.Pointers()
	err = s.db.Each(ctx, "SELECT "+columns.Names()+" FROM resizes ORDER BY made, id", nil, func(rows *sql.Rows) error {
		if err := rows.Scan(into...); err != nil {
			return err
		}
		m.request = api.SizeRequest{}
		if err := json.Unmarshal([]byte(request), &m.request); err != nil {
			return fmt.Errorf("%s: %w", m.id, err)
		}
		list = append(list, m)
		return nil
	})
	return list, wrap(err)
}

// record writes what has changed of a job.
func (s *Store) record(ctx context.Context, m *row) error {
	return wrap(s.db.Write(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE resizes SET nodes = ?, was = ?, job = ?, submit = ?, asks = ?, counts = ? WHERE id = ?`, m.nodes, m.was, m.job, m.submit, m.asks, m.counts, m.id)
		return err
	}))
}

// remove forgets a job: its size stays from now on.
func (s *Store) remove(ctx context.Context, id string) error {
	return wrap(s.db.Write(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `DELETE FROM resizes WHERE id = ?`, id)
		return err
	}))
}

// wrap says in an error what cannot be read or written.
func wrap(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("jobs whose size is not locked in: %w", err)
}
