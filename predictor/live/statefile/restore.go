package statefile

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/varq-project/varq/predictor/live/sqlitefile"
)

// outdated marks what a restored ledger does not know: to what varq has set jobs since the backup. See ledger.Progress.WasLimit. Each
// schema has the column.
const outdated = "UPDATE bindings SET was_limit = 0"

// Restore puts a backup in the place of the file path, which no varqd may use meanwhile: the error wraps ErrLocked. What is at path
// stays under the name that is returned, empty if there was nothing. A backup that is damaged, or of a later varq, is refused. If Restore
// is killed, it can be called again.
func Restore(ctx context.Context, backup, path string, at int64) (aside string, err error) {
	release, err := Lock(path)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, release()) }()
	report, err := Check(ctx, backup)
	if err != nil {
		return "", err
	}
	if report.TooNew() {
		return "", fmt.Errorf("%s: %w: it has schema version %d, and this varq knows %d; install the later one first", backup, sqlitefile.ErrTooNew, report.Version, report.Known)
	}
	if len(report.Damage) > 0 {
		return "", fmt.Errorf("%s is damaged (%s), so that nothing is restored; take another backup", backup, report.Damage[0])
	}
	restored := path + ".restored"
	if err := sqlitefile.Backup(ctx, backup, restored); err != nil {
		return "", err
	}
	if report.Version > 0 {
		if err := sqlitefile.Rewrite(ctx, restored, outdated); err != nil {
			return "", errors.Join(err, os.Remove(restored))
		}
	}
	if aside, err = setAside(path, fmt.Sprintf("%s.replaced-%d", path, at)); err != nil {
		return "", errors.Join(err, os.Remove(restored))
	}
	return aside, os.Rename(restored, path)
}

// setAside gives the file path a second name, together with what SQLite has written beside it and not yet into it. That
// would else become a part of the next file of the name path.
func setAside(path, to string) (string, error) {
	if err := os.Link(path, to); errors.Is(err, fs.ErrNotExist) {
		to = ""
	} else if err != nil {
		return "", err
	}
	var err error
	if to == "" {
		err = os.Remove(path + "-wal")
	} else {
		err = os.Rename(path+"-wal", to+"-wal")
	}
	for _, err := range []error{err, os.Remove(path + "-shm")} {
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
	}
	return to, nil
}
