package vitals

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/live/sqlitefile"
)

const (
	// longest is for how long, in seconds, what was noticed is stored, and mostStored how many
	// events at most.
	longest    = 400 * 86400
	mostStored = 50_000
)

// Store has what was noticed in a file. Its methods may be called concurrently.
type Store struct{ db *sqlitefile.File }

// NewStore returns what was noticed, in a file that statefile.Open has opened.
func NewStore(file *sqlitefile.File) *Store { return &Store{file} }

// stored is something noticed of a node.
type stored struct {
	Node string
	api.Noticed
}

// add stores what was noticed of a node at the time now, and removes what is too old or too much.
func (s *Store) add(ctx context.Context, node string, noticed []api.Noticed, now int64) error {
	err := s.db.Write(ctx, func(tx *sql.Tx) error {
		for _, e := range noticed {
			if _, err := tx.ExecContext(ctx, `INSERT OR REPLACE INTO vitals_noticed (node, kind, at, what) VALUES (?,?,?,?)`, node, e.Kind, e.At, e.What); err != nil {
				return err
			}
		}
		_, err := tx.ExecContext(ctx, `DELETE FROM vitals_noticed WHERE at < ? OR at < (SELECT at FROM vitals_noticed ORDER BY at DESC LIMIT 1 OFFSET ?)`, now-longest, mostStored-1)
		return err
	})
	return wrap(err)
}

// all returns what is stored, the oldest first.
func (s *Store) all(ctx context.Context) (list []stored, err error) {
	err = s.db.Each(ctx, `SELECT node, kind, at, what FROM vitals_noticed ORDER BY at, node, kind`, nil, func(rows *sql.Rows) error {
		var e stored
		err := rows.Scan(&e.Node, &e.Kind, &e.At, &e.What)
		list = append(list, e)
		return err
	})
	return list, wrap(err)
}

// wrap says in an error what cannot be read or written.
func wrap(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("vitals of nodes: %w", err)
}
