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
	Known int    // the schema version that this varq has
	Varq  string // the version of varq that has brought the file to its schema version; empty if nobody wrote that down
}

// ErrNoLedger is the error of Check for a file that is no ledger.
var ErrNoLedger = errors.New("it is no ledger of varq's")

// Check reads the file path whole, which may be in use, and changes nothing. That it is damaged is no error.
func Check(ctx context.Context, path string) (Report, error) {
	r := Report{Known: len(steps)}
	db, err := sqlitefile.OpenToRead(path)
	if err != nil {
		return r, err
	}
	defer db.Close()
	if r.Contents, err = sqlitefile.Examine(ctx, db); err != nil {
		return r, fmt.Errorf("%s: %w", path, err)
	}
	if len(r.Damage) > 0 {
		return r, nil
	}
	if _, has := r.Rows["plans"]; !has {
		return r, fmt.Errorf("%s: %w", path, ErrNoLedger)
	}
	if r.Varq, err = writer(ctx, db, r.Version); err != nil {
		return r, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}

// writer returns the version of varq that has brought a file to its schema version, or nothing if nobody wrote that down.
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
