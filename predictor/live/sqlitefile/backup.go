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
)

// Version returns the schema version of the file path, or 0 if there is no such file.
func Version(path string) (int, error) {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	db, err := OpenToRead(path)
	if err != nil {
		return 0, err
	}
	defer db.Close()
	return version(db)
}

// version reads the schema version.
func version(from Reader) (n int, err error) {
	err = Each(context.Background(), from, "PRAGMA user_version", nil, func(rows *sql.Rows) error { return rows.Scan(&n) })
	return n, err
}

// OpenToRead opens the file path, which must be there, and which other processes may write meanwhile. Nothing can be written to it.
func OpenToRead(path string) (*sql.DB, error) {
	switch info, err := os.Stat(path); { // SQLite says less
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular(): // to open a pipe would take until somebody writes to it
		return nil, fmt.Errorf("%s is no file", path)
	}
	absolute, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	return openAs(absolute, "ro")
}

// openAs opens a file as it is, whatever its schema, in a mode of SQLite: ro or rw.
func openAs(absolute, mode string) (*sql.DB, error) {
	query := url.Values{"mode": {mode}, "_pragma": {"busy_timeout(10000)"}}
	return sql.Open("sqlite", (&url.URL{Scheme: "file", Path: absolute, RawQuery: query.Encode()}).String())
}

// Rewrite makes one change to the file path, which must be there, and leaves its schema as it is. It is on disk when Rewrite returns nil.
func Rewrite(ctx context.Context, path, statement string) error {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	db, err := openAs(absolute, "rw")
	if err != nil {
		return err
	}
	_, err = db.ExecContext(ctx, statement)
	return errors.Join(err, db.Close())
}

// Backup copies the file path to the file to, as it is at one moment, while others read and write it. It takes the place of a file that
// is there. The copy is on disk, whole, when Backup returns nil; otherwise to is as it was before.
func Backup(ctx context.Context, path, to string) (err error) {
	db, err := OpenToRead(path)
	if err != nil {
		return err
	}
	defer db.Close()
	part, err := os.CreateTemp(filepath.Dir(to), filepath.Base(to)+".part-*") // which nobody else can read
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(part.Name()))
		}
	}()
	defer part.Close()
	if _, err := db.ExecContext(ctx, "VACUUM INTO ?", part.Name()); err != nil {
		return fmt.Errorf("copy %s to %s: %w", path, filepath.Dir(to), err)
	}
	if err := part.Sync(); err != nil {
		return err
	}
	if err := os.Rename(part.Name(), to); err != nil {
		return err
	}
	return syncFolder(filepath.Dir(to))
}

// syncFolder makes what was renamed in a folder survive a power cut.
func syncFolder(path string) error {
	folder, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}
