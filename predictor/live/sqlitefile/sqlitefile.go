// Package sqlitefile opens varq's SQLite files. A file is readable by its owner alone and in
// WAL mode. Numbered steps migrate its schema.
package sqlitefile

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"

	"modernc.org/sqlite" // the driver named "sqlite", too
	sqlite3 "modernc.org/sqlite/lib"
)

// ErrTooNew is the error of a file that a later version of varq has written.
var ErrTooNew = errors.New("written by a later version of varq")

// ErrUnwritten is the error of a write that the file has not taken, whatever was to be written: its
// disk is full, say.
var ErrUnwritten = errors.New("the file cannot be written")

// Durability says what a committed transaction survives. It is a value of SQLite's pragma
// synchronous. With either value, no crash corrupts the file.
type Durability string

// The durabilities.
const (
	SurvivesPowerCut Durability = "FULL"
	SurvivesKill     Durability = "NORMAL" // the death of the process, but not a power cut
)

// File is an open file. Its methods may be called concurrently. Readers run in parallel,
// writers one after another in the order of their calls.
type File struct {
	*sql.DB // for reading
	writer  *sql.DB
	// Watch, if not nil, is told after each write whether the file has taken it: nil, or an error
	// that wraps ErrUnwritten. It is not told of what fails for another reason. It is set before
	// the file is used.
	Watch func(error)
}

// maxReaders is the greatest number of readers in parallel. Further readers wait.
const maxReaders = 8

// Open opens the file path, and creates it with mode 0600 if there is none. It applies the steps
// that the file does not have yet. Step i is SQL that takes the schema from version i to version
// i+1. A new step comes last, and no step changes. A file that has anything else in its schema
// stays as it is: the error wraps ErrForeign.
func Open(path string, durability Durability, steps []string) (*File, error) {
	if err := regular(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	created, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := created.Close(); err != nil {
		return nil, err
	}
	absolute, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	f, err := connect(absolute, steps, "", "journal_mode(WAL)", "synchronous("+string(durability)+")")
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return f, nil
}

// inMemory counts the files of OpenMemory, so that each has a name of its own.
var inMemory atomic.Int64

// OpenMemory returns a new file in memory, which Close forgets.
func OpenMemory(steps []string) (*File, error) {
	// The name of a database that several connections share begins with a slash.
	return connect(fmt.Sprintf("/memory%d", inMemory.Add(1)), steps, "memdb")
}

// connect opens the file path of one of SQLite's file systems, "" for the usual one, and
// applies the steps that the file does not have yet.
func connect(path string, steps []string, fileSystem string, pragmas ...string) (f *File, err error) {
	// Another process, such as a backup, may have the write lock for a while.
	query := url.Values{"_txlock": {"immediate"}, "_pragma": append(append(slices.Clone(wary), "busy_timeout(10000)", "foreign_keys(1)"), pragmas...)}
	if fileSystem != "" {
		query.Set("vfs", fileSystem)
	}
	dsn := (&url.URL{Scheme: "file", Path: path, RawQuery: query.Encode()}).String()
	f = &File{}
	if f.writer, err = sql.Open("sqlite", dsn); err != nil {
		return nil, err
	}
	f.writer.SetMaxOpenConns(1)
	if f.DB, err = sql.Open("sqlite", dsn); err != nil {
		return nil, errors.Join(err, f.writer.Close())
	}
	f.SetMaxOpenConns(maxReaders)
	f.SetMaxIdleConns(maxReaders)
	if err := f.migrate(steps); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Close closes the file.
func (f *File) Close() error { return errors.Join(f.DB.Close(), f.writer.Close()) }

func (f *File) migrate(steps []string) error {
	return f.Write(context.Background(), func(tx *sql.Tx) error {
		has, err := version(tx)
		if err != nil {
			return err
		}
		if has > len(steps) {
			return fmt.Errorf("%w: it has schema version %d, and this varq knows %d", ErrTooNew, has, len(steps))
		}
		if err := own(context.Background(), tx, steps[:has]); err != nil {
			return err
		}
		for i := has; i < len(steps); i++ {
			if _, err := tx.Exec(steps[i]); err != nil {
				return fmt.Errorf("schema step %d: %w", i+1, err)
			}
		}
		_, err = tx.Exec(fmt.Sprintf("PRAGMA user_version = %d", len(steps)))
		return err
	})
}

// Write runs do in one transaction. It commits if do returns nil, and otherwise changes
// nothing. If the file does not take what is written, the error wraps ErrUnwritten.
func (f *File) Write(ctx context.Context, do func(*sql.Tx) error) error {
	err := f.write(ctx, do)
	broken := unwritten(err)
	if broken {
		err = fmt.Errorf("%w: %w", ErrUnwritten, err)
	}
	if f.Watch != nil && (err == nil || broken) {
		f.Watch(err)
	}
	return err
}

func (f *File) write(ctx context.Context, do func(*sql.Tx) error) error {
	tx, err := f.writer.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := do(tx); err != nil {
		// After a full disk SQLite has rolled back by itself. Rollback's error then
		// says only that there is no transaction.
		_ = tx.Rollback()
		return err
	}
	if err := tx.Commit(); err != nil {
		_ = tx.Rollback()
		return err
	}
	return nil
}

// Each calls do for each row of a query, and ends with the first error.
func (f *File) Each(ctx context.Context, query string, args []any, do func(*sql.Rows) error) error {
	return Each(ctx, f, query, args, do)
}

// Reader is a File or a transaction.
type Reader interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// Each calls do for each row of a query of a Reader, and ends with the first error.
func Each(ctx context.Context, from Reader, query string, args []any, do func(*sql.Rows) error) error {
	rows, err := from.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := do(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// unwritten reports whether err is the file's, and not of what was to be written.
func unwritten(err error) bool {
	e, ok := errors.AsType[*sqlite.Error](err)
	if !ok {
		return false
	}
	switch e.Code() & 0xff { // the rest says more of the same
	case sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_CORRUPT,
		sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_BUSY:
		return true
	}
	return false
}
