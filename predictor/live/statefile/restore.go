package statefile

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/varq-project/varq/predictor/live/sqlitefile"
)

// outdated marks what a restored ledger does not know: to what varq has set jobs since the backup.
// See ledger.Progress.WasLimit. Each schema has the column.
const outdated = "UPDATE bindings SET was_limit = 0"

// Restore puts a copy of a backup in the place of the file path, which no varqd may use meanwhile:
// the error wraps ErrLocked. What is at path stays under the name that is returned, empty if there
// was nothing. A backup that is damaged, or of a later varq, is refused. If Restore is killed, the
// file path is what it was, or the backup, and it can be called again.
func Restore(ctx context.Context, backup, path string, at int64) (aside string, err error) {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real // a link to where the ledger is stays one
	}
	release, err := Lock(path)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, release()) }()
	if err := sweep(path); err != nil {
		return "", err
	}
	if err := restorable(ctx, backup, backup); err != nil { // which copying could mend
		return "", err
	}
	part, err := sqlitefile.Copy(ctx, backup, path)
	if err != nil {
		return "", err
	}
	err = restorable(ctx, part, backup) // somebody may have written to the backup meanwhile
	if err == nil {
		err = sqlitefile.Rewrite(ctx, part, outdated)
	}
	if err == nil {
		aside, err = setAside(ctx, path, fmt.Sprintf("%s.replaced-%d", path, at))
	}
	if err != nil {
		return "", errors.Join(err, sqlitefile.Discard(part))
	}
	return aside, sqlitefile.Place(part, path)
}

// restorable returns an error about the file name if the file path cannot be the ledger.
func restorable(ctx context.Context, path, name string) error {
	report, err := Check(ctx, path)
	switch {
	case err != nil:
		return err
	case report.TooNew():
		return fmt.Errorf("%s: %w: it has schema version %d, and this varq knows %d; install the later one first", name, sqlitefile.ErrTooNew, report.Version, report.Known)
	case len(report.Damage) > 0:
		return fmt.Errorf("%s is damaged (%s), so that nothing is restored; take another backup", name, report.Damage[0])
	}
	return nil
}

// setAside gives the file path a second name, together with what SQLite has written beside it and
// not yet into it.
func setAside(ctx context.Context, path, to string) (string, error) {
	if err := os.Link(path, to); errors.Is(err, fs.ErrNotExist) {
		return "", nil
	} else if err != nil {
		return "", err
	}
	// Whole, the file takes that in, and is so at any moment what it was; a damaged one need not
	// take it.
	_ = sqlitefile.Rewrite(ctx, path, "PRAGMA wal_checkpoint(TRUNCATE)")
	return to, sqlitefile.MoveBeside(path, to)
}
