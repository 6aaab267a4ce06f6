package history

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/varq-project/varq/predictor/live/sqlitefile"
)

// Unstored returns why the cache is in memory alone, and so lost when varqd ends, or nil while
// it is in its file. Once in memory it stays there.
func (h *History) Unstored() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.unstored
}

// openInMemory returns an empty cache in memory, because its file cannot be opened.
func openInMemory(reason error) (*History, error) {
	h := &History{ids: map[string]int64{}, unstored: reason}
	db, err := sqlitefile.OpenMemory(schema)
	h.db.Store(db)
	return h, err
}

// write is sqlitefile.File.Write. If the file cannot be written, for example because its disk
// is full, write moves the cache into memory and runs do again. The caller holds h.mu.
func (h *History) write(ctx context.Context, do func(*sql.Tx) error) error {
	err := h.db.Load().Write(ctx, do)
	if h.unstored != nil || !unwritable(err) {
		return err
	}
	if moving := h.moveToMemory(ctx); moving != nil {
		return errors.Join(err, moving)
	}
	h.unstored = err
	return h.db.Load().Write(ctx, do)
}

// unwritable reports whether err is a failure of the disk, or of rights.
func unwritable(err error) bool {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		switch e.Code() & 0xff {
		case sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN:
			return true
		}
	}
	return false
}

// moveToMemory copies all tables into memory. The file stays open for those who read it.
func (h *History) moveToMemory(ctx context.Context) error {
	file := h.db.Load()
	memory, err := sqlitefile.OpenMemory(schema)
	if err != nil {
		return err
	}
	err = memory.Write(ctx, func(tx *sql.Tx) error {
		for _, table := range []string{"strings", "jobs", "coverage"} {
			if err := copyTable(ctx, tx, file, table); err != nil {
				return fmt.Errorf("copy %s into memory: %w", table, err)
			}
		}
		return nil
	})
	if err != nil {
		return errors.Join(err, memory.Close())
	}
	h.file = file
	h.db.Store(memory)
	return nil
}

// copyTable replaces the rows of a table by those of the same table of another file.
func copyTable(ctx context.Context, tx *sql.Tx, from *sqlitefile.File, table string) error {
	if _, err := tx.ExecContext(ctx, "DELETE FROM "+table); err != nil {
		return err
	}
	var columns int
	if err := from.QueryRowContext(ctx, "SELECT count(*) FROM pragma_table_info(?)", table).Scan(&columns); err != nil {
		return err
	}
	insert := "INSERT INTO " + table + " VALUES (?" + strings.Repeat(",?", columns-1) + ")"
	values, pointers := make([]any, columns), make([]any, columns)
	for i := range values {
		pointers[i] = &values[i]
	}
	return from.Each(ctx, "SELECT * FROM "+table, nil, func(rows *sql.Rows) error {
		if err := rows.Scan(pointers...); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, insert, values...)
		return err
	})
}
