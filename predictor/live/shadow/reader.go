package shadow

import (
	"context"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/promise/report"
)

// Reader reads what became of the reservations that were not made.
type Reader struct {
	Store *Store
	// Watching is true if there is a Watcher, and Since is since when, in Unix seconds.
	Watching bool
	Since    int64
	// Now is the clock, in Unix seconds.
	Now func() int64
}

// Shadow returns what would have been promised, and what would have come of it. The answer names
// no user, so that any user may read it.
func (r Reader) Shadow(ctx context.Context, q api.ShadowQuery) (api.Shadow, error) {
	rows, err := r.Store.rows(ctx, q.Start, q.End, false)
	if err != nil {
		return api.Shadow{}, err
	}
	answer := sum(rows, r.Now())
	if answer.Watching = r.Watching; r.Watching {
		answer.Since = r.Since
	}
	return answer, nil
}

// sum sums up rows, in the order of their eligible times, as of a time.
func sum(rows []row, now int64) api.Shadow {
	answer := api.Shadow{Jobs: len(rows), Rows: []api.ShadowRow{}}
	if len(rows) > 0 {
		answer.From, answer.To = rows[0].eligible, rows[len(rows)-1].eligible
	}
	var all []report.Shadow
	for i := range rows {
		for k, prob := range Probs {
			all = append(all, report.Shadow{
				Partition: rows[i].partition, Prob: prob, Nodes: rows[i].nodes, Within: rows[i].within[k],
				Eligible: rows[i].eligible, Start: rows[i].start, End: rows[i].end,
			})
		}
	}
	for _, row := range report.Shadows(all, now) {
		answer.Rows = append(answer.Rows, api.ShadowRow(row))
	}
	return answer
}
