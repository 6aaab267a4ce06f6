package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/varq-project/varq/predictor/slurmtime"
)

// MaxUnclaimed is the greatest number of open promises without a job that one user may have. It
// keeps a user from filling the ledger. Usually sbatch takes up a promise as soon as it is made.
const MaxUnclaimed = 100

// ErrUnclaimed is the error of Promise for a user who has MaxUnclaimed promises without a job.
var ErrUnclaimed = errors.New("too many promises without a job")

// unclaimedFor is for how many seconds a promise without a job claims its room. A job usually takes
// up its promise within a few seconds.
const unclaimedFor = 120

// bindsFor is for how many seconds a job can take up a promise without being granted its room
// again. This ends before the promise ceases to claim its room, because others may be granted the
// room then.
const bindsFor = unclaimedFor - 10

// Promises that no job takes up keep room from others in vain. A user's promises may do so for
// MaxInVain seconds of the last VainWithin. A promise that was taken back at once counts as
// leastVain seconds. This stops also a user who makes and takes back promises all the time.
const (
	VainWithin = 3600
	MaxInVain  = 1200
	leastVain  = 12
)

// InVainError is the error of Promise for a user whose promises have kept room in vain for
// MaxInVain seconds of the last VainWithin.
type InVainError struct {
	Until int64 // when Promise promises again, unless more room is kept in vain until then
}

func (e InVainError) Error() string {
	return fmt.Sprintf("room was kept in vain for %s within %s, and none is until %d",
		slurmtime.FormatDuration(MaxInVain), slurmtime.FormatDuration(VainWithin), e.Until)
}

// MayPromise returns ErrUnclaimed or an InVainError if Promise would return it for user at the time
// now. It does not yet count a promise whose job may still come, or may be in a queue that was not
// read since: see Promise for bound.
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
