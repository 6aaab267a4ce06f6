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
	"strings"
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
	if err == nil && n < 0 {
		err = fmt.Errorf("%w: it has schema version %d", ErrForeign, n)
	}
	return n, err
}

// OpenToRead opens the file path, which must be there, and which other processes may write
// meanwhile. Nothing can be written to it.
func OpenToRead(path string) (*sql.DB, error) {
	if err := regular(path); err != nil {
		return nil, err
	}
	absolute, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	return openAs(absolute, "ro")
}

// Beside are the ends of the names of the files that SQLite keeps beside a file, and which belong
// to it.
var Beside = []string{"-wal", "-shm", "-journal"}

// regular returns an error if path, or what SQLite would read beside it, is there and no file: to
// open a pipe would take until somebody writes to it. Without path the error wraps fs.ErrNotExist.
// SQLite says less.
func regular(path string) error {
	if _, err := os.Stat(path); err != nil {
		return err
	}
	for _, end := range append([]string{""}, Beside...) {
		switch info, err := os.Stat(path + end); {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return err
		case !info.Mode().IsRegular():
			return fmt.Errorf("%s is not a file", path+end)
		}
	}
	return nil
}

// wary are the pragmas that keep SQLite from believing what a file says of itself.
var wary = []string{"trusted_schema(0)", "cell_size_check(1)"}

// openAs opens a file as it is, whatever its schema, in a mode of SQLite: ro or rw.
func openAs(absolute, mode string) (*sql.DB, error) {
	query := url.Values{"mode": {mode}, "_pragma": append(slices.Clone(wary), "busy_timeout(10000)")}
	return sql.Open("sqlite", (&url.URL{Scheme: "file", Path: absolute, RawQuery: query.Encode()}).String())
}

// Rewrite makes one change to the file path, which must be there, and leaves its schema as it is.
// It is on disk when Rewrite returns nil.
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

// Backup copies the file path to the file to, as it is at one moment, while others read and write
// it. It takes the place of a file that is there. The copy is on disk, whole, when Backup returns
// nil; otherwise to is as it was before.
func Backup(ctx context.Context, path, to string) error {
	part, err := Copy(ctx, path, to)
	if err != nil {
		return err
	}
	return Place(part, to)
}

// partInfix is between the name of a file and a random number in the name of a copy that is to take
// its place.
const partInfix = ".part-"

// Copy is the first half of Backup: it copies the file path to a new file in the folder of to,
// which nobody else can read, and is on disk. Discard or Place is the end of that.
func Copy(ctx context.Context, path, to string) (part string, err error) {
	db, err := OpenToRead(path)
	if err != nil {
		return "", err
	}
	defer db.Close()
	file, err := os.CreateTemp(filepath.Dir(to), filepath.Base(to)+partInfix+"*")
	if err != nil {
		return "", err
	}
	defer file.Close()
	if _, err = db.ExecContext(ctx, "VACUUM INTO ?", file.Name()); err != nil {
		err = fmt.Errorf("copy %s to %s: %w", path, filepath.Dir(to), err)
	} else {
		err = file.Sync()
	}
	if err != nil {
		return "", errors.Join(err, Discard(file.Name()))
	}
	return file.Name(), nil
}

// Place is the second half of Backup: it gives a copy its name, at one go. Discard is done if it
// fails.
func Place(part, to string) error {
	err := removeBeside(to) // which belongs to what was there
	if err == nil {
		err = os.Rename(part, to)
	}
	if err != nil {
		return errors.Join(err, Discard(part))
	}
	return syncFolder(filepath.Dir(to))
}

// Sweep removes from a folder the copies that are to take the place of certain files, of whose
// names is reports true. Nobody may be making one: they are of processes that were killed.
func Sweep(folder string, is func(to string) bool) error {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		to, number, _ := strings.Cut(entry.Name(), partInfix)
		end := strings.TrimLeft(number, "0123456789")
		if end == number || end != "" && !slices.Contains(Beside, end) || !is(to) {
			continue
		}
		if err := os.Remove(filepath.Join(folder, entry.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// Discard removes a copy.
func Discard(part string) error { return errors.Join(os.Remove(part), removeBeside(part)) }

func removeBeside(path string) error {
	for _, end := range Beside {
		if err := os.Remove(path + end); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// MoveBeside gives what SQLite has written beside the file path, and not yet into it, to the file
// to, which has another name of it. That would else become a part of the next file of the name
// path.
func MoveBeside(path, to string) error {
	for _, end := range Beside {
		if err := os.Rename(path+end, to+end); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// syncFolder makes what was renamed in a folder survive a power cut.
func syncFolder(path string) error {
	folder, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}
