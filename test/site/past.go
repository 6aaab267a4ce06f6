package site

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/varq-project/varq/predictor/live/history"
	"github.com/varq-project/varq/predictor/workload"
)

// Remember writes past jobs into varqd's cache of accounting, as if varqd had read all of the time
// since then (Unix seconds). varqd must have run before, and not run now.
func (s *Site) Remember(ctx context.Context, since int64, past iter.Seq[workload.Job]) (err error) {
	const batch = 10_000
	h, _, err := history.Open(s.History())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.Close()) }()
	covered := history.Coverage{Since: since, Until: time.Now().Unix(), Complete: true}
	var some []workload.Job
	write := func() error {
		_, err := h.Add(ctx, some, &covered)
		some = some[:0]
		return err
	}
	for j := range past {
		if some = append(some, j); len(some) == batch {
			if err := write(); err != nil {
				return err
			}
		}
	}
	return write()
}
