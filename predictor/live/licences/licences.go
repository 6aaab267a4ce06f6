// Package licences records how many of the site's licences are free, hour by hour, and forecasts
// from that how likely some are to be free at a later time.
package licences

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"strconv"
	"strings"

	"github.com/varq-project/varq/predictor/cluster/limits"
	"github.com/varq-project/varq/predictor/live/sqlitefile"
	"github.com/varq-project/varq/predictor/stats"
)

const (
	hour = 3600 // seconds
	// longest is for how long, in seconds, a record is stored.
	longest = 28 * 86400
	// mostNames is of how many licences there are records.
	mostNames = 256
	// leastHours is how many hours like the present one must be known.
	leastHours = 20
	// confidence is that of the lower bound on a probability.
	confidence = .75
)

// Store has the records in a file. Its methods may be called concurrently, but for Record.
type Store struct {
	db *sqlitefile.File
	// least is what is written of the hour that begins at hour, so that it is written once.
	least map[string]int64
	hour  int64
}

// NewStore returns the records in a file that statefile.Open has opened.
func NewStore(file *sqlitefile.File) *Store { return &Store{db: file} }

// Record takes in how many licences there are, and how many are in use, at a time, in Unix seconds.
// Of each hour the least number that was free counts. What is too old is removed.
func (s *Store) Record(ctx context.Context, all map[string]limits.License, at int64) error {
	if len(all) == 0 || len(all) > mostNames {
		return nil
	}
	begin := at - at%hour
	if s.hour != begin {
		s.hour, s.least = begin, map[string]int64{}
	}
	fewer := map[string]int64{}
	for name, l := range all {
		free := l.Total - l.Used
		if least, written := s.least[name]; !written || free < least {
			fewer[name] = free
		}
	}
	if len(fewer) == 0 {
		return nil
	}
	err := s.db.Write(ctx, func(tx *sql.Tx) error {
		for name, free := range fewer {
			if _, err := tx.ExecContext(ctx, `INSERT INTO free_licences (name, at, free) VALUES (?,?,?) ON CONFLICT (name, at) DO UPDATE SET free = min(free, excluded.free)`, name, begin, free); err != nil {
				return err
			}
		}
		_, err := tx.ExecContext(ctx, `DELETE FROM free_licences WHERE at < ?`, begin-longest)
		return err
	})
	if err != nil {
		return wrap(err)
	}
	maps.Copy(s.least, fewer)
	return nil
}

// Forecast says how likely licences are to be free at a time, in Unix seconds, throughout its hour:
// a lower bound. If that is not known it says why, in a sentence without a full stop.
type Forecast func(at int64) (prob float64, unknown string)

// Free returns the Forecast for all licences of a list, such as "matlab:2". all is how many there
// are and how many are in use now. The probability of each is the share of those past hours in
// which it was free that were as long after an hour in which it was free, or was not, as it is now.
func (s *Store) Free(ctx context.Context, list string, all map[string]limits.License, now int64) (Forecast, error) {
	var each []Forecast
	for item := range strings.SplitSeq(list, ",") {
		name, text, _ := strings.Cut(item, ":")
		count, err := strconv.ParseInt(text, 10, 64)
		of, known := all[name]
		if err != nil || !known {
			return nil, fmt.Errorf("free licences: there is no %q", item)
		}
		free, err := s.free(ctx, name)
		if err != nil {
			return nil, err
		}
		each = append(each, func(at int64) (float64, string) {
			prob, hours := after(free, count, of.Total-of.Used >= count, now/hour, max(1, (at-now+hour-1)/hour))
			if hours < leastHours {
				return 0, fmt.Sprintf("how likely %d of licence %s are to be free then is not known yet: varq has watched them for %d hours so far", count, name, len(free))
			}
			return prob, ""
		})
	}
	return func(at int64) (prob float64, unknown string) {
		prob = 1
		for _, one := range each {
			p, why := one(at)
			if why != "" {
				return 0, why
			}
			prob = max(0, prob+p-1) // whether they depend on one another or not
		}
		return prob, ""
	}, nil
}

// after returns a lower bound on the probability that at least count were free some hours after one
// like the present, in which they are free now or are not, and how many such hours are known.
func after(free map[int64]int64, count int64, now bool, present, hours int64) (prob float64, n int) {
	were := 0
	for at, had := range free {
		then, known := free[at+hours]
		if !known || at+hours >= present || (had >= count) != now {
			continue
		}
		if n++; then >= count {
			were++
		}
	}
	if n == 0 {
		return 0, 0
	}
	return stats.LowerProportion(were, n, confidence), n
}

// free returns how many of a licence were free at least, by the hour since 1970.
func (s *Store) free(ctx context.Context, name string) (map[int64]int64, error) {
	free := map[int64]int64{}
	err := s.db.Each(ctx, `SELECT at, free FROM free_licences WHERE name = ?`, []any{name}, func(rows *sql.Rows) error {
		var at, n int64
		if err := rows.Scan(&at, &n); err != nil {
			return err
		}
		free[at/hour] = n
		return nil
	})
	return free, wrap(err)
}

// wrap says in an error what cannot be read or written.
func wrap(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("free licences: %w", err)
}
