package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/varq-project/varq/predictor/slurmtime"
)

// MaxUnclaimed is the greatest number of open promises without a job that one user may have.
// It keeps one user from filling the ledger. sbatch takes up a promise as soon as it is made.
const MaxUnclaimed = 100

// ErrUnclaimed is the error of Promise for a user who has MaxUnclaimed promises without a job.
var ErrUnclaimed = errors.New("too many promises without a job")

// unclaimedFor is for how many seconds a promise claims its room though it has no job. A job
// takes its promise up within a few.
const unclaimedFor = 120

// bindsFor is for how many seconds a job takes a promise up without being granted that anew. That
// ends before the promise ceases to claim its room: others are granted theirs at the same time.
const bindsFor = unclaimedFor - 10

// A user may keep room from others in vain, by promises that no job takes up, for MaxInVain
// seconds of the last VainWithin. A promise that was taken back at once counts as leastVain
// seconds: so whoever promises and takes back all the time is stopped, too.
const (
	VainWithin = 3600
	MaxInVain  = 1200
	leastVain  = 12
)

// InVainError is the error of Promise for a user whose promises have kept room in vain for
// MaxInVain seconds of the last VainWithin.
type InVainError struct {
	Until int64 // when Promise will promise again, if until then no more is kept in vain
}

func (e InVainError) Error() string {
	return fmt.Sprintf("room was kept in vain for %s within %s, and none is until %d",
		slurmtime.FormatDuration(MaxInVain), slurmtime.FormatDuration(VainWithin), e.Until)
}

// MayPromise returns ErrUnclaimed, or an InVainError, if Promise promises nothing to user at the
// time now. Of a promise whose job may still come, or be in a queue that was not read since, nobody
// knows yet whether it was made in vain: see Promise for bound.
func (l *Ledger) MayPromise(ctx context.Context, user string, now, bound int64) error {
	return mayPromise(ctx, l.db, user, now, bound)
}

// querier is a file, or a transaction on it.
type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

func mayPromise(ctx context.Context, q querier, user string, now, bound int64) error {
	var open int
	var last int64
	err := q.QueryRowContext(ctx, `SELECT count(*) FILTER (WHERE open),
			coalesce(max(promised_at) FILTER (WHERE vain >= ?), 0)
		FROM (SELECT open, promised_at, sum(CASE
				WHEN promised_at NOT BETWEEN ? AND ? THEN 0
				WHEN withdrawn <> 0 THEN min(max(withdrawn - promised_at, ?), ?)
				WHEN promised_at <= ? THEN ?
				ELSE 0 END) OVER (ORDER BY promised_at DESC) AS vain
			FROM plans p WHERE user = ? AND `+deadline+` > ?
				AND NOT EXISTS (SELECT 1 FROM bindings WHERE plan = p.id))`,
		MaxInVain, now-VainWithin+1, now, leastVain, unclaimedFor, min(now-unclaimedFor, bound), unclaimedFor, user, now-86400).
		Scan(&open, &last)
	switch {
	case err != nil:
		return err
	case last != 0:
		return InVainError{Until: last + VainWithin}
	case open >= MaxUnclaimed:
		return ErrUnclaimed
	}
	return nil
}
