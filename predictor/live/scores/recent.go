package scores

import (
	"context"
	"database/sql"
	"encoding/json"
	"maps"
	"slices"
)

// mostRecent is how many of the last times are stored of each kind.
const mostRecent = 300

// recent has the last times that came, in seconds, by kind: the oldest first. Their median is what
// a forecast says that knows nothing of the job.
type recent map[string][]int64

// kindOf returns the kind of the times that come of a job: of its end, its wait, or, of a job that
// waited already when it was seen, the rest of the wait.
func kindOf(o Outcome, ofEnd bool) string {
	switch {
	case ofEnd:
		return "end"
	case o.ID < 0:
		return "rest"
	}
	return "wait"
}

func loadRecent(ctx context.Context, tx *sql.Tx) (recent, error) {
	rows, err := tx.QueryContext(ctx, `SELECT kind, seconds FROM recent`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	r := recent{}
	for rows.Next() {
		var kind string
		var text []byte
		if err := rows.Scan(&kind, &text); err != nil {
			return nil, err
		}
		var seconds []int64
		if err := json.Unmarshal(text, &seconds); err != nil {
			return nil, err
		}
		r[kind] = seconds
	}
	return r, rows.Err()
}

// median returns the median of the last times of a kind, the lower one of two, and whether there is
// one.
func (r recent) median(kind string) (seconds float64, ok bool) {
	if len(r[kind]) == 0 {
		return 0, false
	}
	sorted := slices.Sorted(slices.Values(r[kind]))
	return float64(sorted[(len(sorted)-1)/2]), true
}

// add adds a time to those of a kind.
func (r recent) add(kind string, seconds int64) {
	r[kind] = append(r[kind], seconds)
	r[kind] = r[kind][max(0, len(r[kind])-mostRecent):]
}

func (r recent) store(ctx context.Context, tx *sql.Tx) error {
	for _, kind := range slices.Sorted(maps.Keys(r)) {
		text, err := json.Marshal(r[kind])
		if err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `INSERT OR REPLACE INTO recent (kind, seconds) VALUES (?,?)`, kind, string(text)); err != nil {
			return err
		}
	}
	return nil
}
