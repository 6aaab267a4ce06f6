package statefile

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/varq-project/varq/predictor/live/sqlitefile"
)

// Report tells how a file is that Open has once opened, or a backup of it.
type Report struct {
	sqlitefile.Contents
	Known int // the schema version that this varq has
	// the version of varq that has brought the file to its schema version; empty if nobody wrote
	// that down
	Varq string
	// Open is the number of promises that are not settled, and Last the Unix time of the last
	// promise, 0 without any.
	Open, Last int64
}

// TooNew reports whether the file is one of a later varq.
func (r *Report) TooNew() bool { return r.Version > r.Known }

// Promises returns the number of promises.
func (r *Report) Promises() int64 { return r.Rows["plans"] }

// ErrNoLedger is the error of Check for a file that is not a ledger.
var ErrNoLedger = errors.New("it is not a ledger of varq's")

// Check reads the file path whole, which may be in use, and changes nothing. That it is damaged is
// no error, and that it has other tables, indices, views or triggers than varq makes is damage.
func Check(ctx context.Context, path string) (Report, error) {
	r := Report{Known: len(steps)}
	db, err := sqlitefile.OpenToRead(path)
	if err != nil {
		return r, err
	}
	defer db.Close()
	var plans bool
	const query = "SELECT count(*) > 0 FROM sqlite_schema WHERE type = 'table' AND name = 'plans'"
	// of errors Examine knows more
	if err := db.QueryRowContext(ctx, query).Scan(&plans); err == nil && !plans {
		return r, fmt.Errorf("%s: %w", path, ErrNoLedger)
	}
	if r.Contents, err = sqlitefile.Examine(ctx, db, steps); err != nil {
		return r, fmt.Errorf("%s: %w", path, sqlitefile.Explain(path, err))
	}
	if len(r.Damage) > 0 {
		return r, nil
	}
	if r.Varq, err = writer(ctx, db, r.Version); err == nil {
		err = db.QueryRowContext(ctx, "SELECT coalesce(sum(open), 0), coalesce(max(promised_at), 0) FROM plans").Scan(&r.Open, &r.Last)
	}
	if err != nil {
		return r, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}

// Backup copies the file path to the file to while varqd may write it, as sqlitefile.Backup does,
// and checks the copy. A copy that is damaged, as the file itself is then, stays there.
func Backup(ctx context.Context, path, to string) (Report, error) {
	if err := sqlitefile.Backup(ctx, path, to); err != nil {
		return Report{}, fmt.Errorf("no backup: %w", sqlitefile.Explain(to, err))
	}
	return Check(ctx, to)
}

// writer returns the version of varq that has brought a file to its schema version, or nothing if
// nobody wrote that down.
func writer(ctx context.Context, db *sql.DB, version int) (varq string, err error) {
	if version < signedSince {
		return "", nil
	}
	err = db.QueryRowContext(ctx, "SELECT varq FROM schemas WHERE version = ?", version).Scan(&varq)
	if errors.Is(err, sql.ErrNoRows) { // varqd was killed before it could sign
		err = nil
	}
	return varq, err
}
