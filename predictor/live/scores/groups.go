package scores

import (
	"cmp"
	"context"
	"database/sql"
	"maps"
	"slices"

	"github.com/varq-project/varq/predictor/forecast/score"
	"github.com/varq-project/varq/predictor/forecast/score/group"
	"github.com/varq-project/varq/predictor/live/sqlitefile"
	"github.com/varq-project/varq/predictor/stats"
)

const (
	// GroupDays is for how many days it is stored how often quantiles held in groups of jobs.
	GroupDays = 100
	// mostGroups is of how many groups, for one forecaster and day.
	mostGroups = 512
)

// held counts by group how often the quantiles of score.Levels held.
type held map[heldKey]*[len(score.Levels)]stats.Count

type heldKey struct {
	day        int64
	forecaster string
	group.Group
}

// add counts the quantiles of a forecast, and whether the time that came, in seconds, was within
// them. v is that of score.Quantiles.
func (h held) add(f *Forecast, seconds, v float64) {
	if len(f.Groups) == 0 {
		return
	}
	said := score.Quantiles(nil, &f.Delay, score.Levels[:], seconds, v)
	for _, g := range group.WithForecast(f.Groups, said) {
		key := heldKey{score.Day(f.Eligible), f.Forecaster, g}
		if h[key] == nil {
			h[key] = new([len(score.Levels)]stats.Count)
		}
		for i := range said {
			if said[i].Known() {
				h[key][i].Add(said[i].Covered)
			}
		}
	}
}

// store adds the counts to the table, in the order of their keys. Of each forecaster and day it
// leaves out groups after the first mostGroups.
func (h held) store(ctx context.Context, tx *sql.Tx) error {
	keys := slices.SortedFunc(maps.Keys(h), func(a, b heldKey) int {
		return cmp.Or(cmp.Compare(a.day, b.day), cmp.Compare(a.forecaster, b.forecaster), cmp.Compare(a.By, b.By), cmp.Compare(a.Value, b.Value))
	})
	for _, k := range keys {
		for i, n := range h[k] {
			if _, err := tx.ExecContext(ctx, `INSERT INTO held (day, forecaster, property, value, level, n, covered)
				SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7 WHERE
					EXISTS (SELECT 1 FROM held WHERE day = ?1 AND forecaster = ?2 AND property = ?3 AND value = ?4 AND level = ?5) OR
					(SELECT count(*) FROM held WHERE day = ?1 AND forecaster = ?2 AND level = ?5) < ?8
				ON CONFLICT DO UPDATE SET n = n + excluded.n, covered = covered + excluded.covered`,
				k.day, k.forecaster, k.By, k.Value, score.Levels[i], n.Of, n.N, mostGroups); err != nil {
				return err
			}
		}
	}
	return nil
}

// Held returns by forecaster in how many cases the quantiles of score.Levels held in groups of jobs
// that began to wait on the days from <= day < to, or from then on if to is 0. If forecaster is not
// empty, it is that of this one alone.
func (s *Store) Held(ctx context.Context, forecaster string, from, to int64) (map[string]group.Tallies, error) {
	var where sqlitefile.Where
	where.And(true, "day >= ?", from)
	where.And(to != 0, "day < ?", to)
	where.And(forecaster != "", "forecaster = ?", forecaster)
	by := map[string]group.Tallies{}
	err := s.each(ctx, `SELECT day, forecaster, property, value, level, n, covered FROM held`+where.Clause(), where.Args, func(rows *sql.Rows) error {
		var k heldKey
		var level float64
		var n stats.Count
		if err := rows.Scan(&k.day, &k.forecaster, &k.By, &k.Value, &level, &n.Of, &n.N); err != nil {
			return err
		}
		if by[k.forecaster] == nil {
			by[k.forecaster] = group.Tallies{}
		}
		t := by[k.forecaster].At(k.Group, len(score.Levels))
		if i := slices.Index(score.Levels[:], level); i >= 0 {
			t.Held[i].At(score.Week(k.day)).Plus(n)
			t.Jobs = max(t.Jobs, t.Held[i].Sum().Of)
		}
		return nil
	})
	return by, err
}
