package selfscore

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/forecast/score"
	"github.com/varq-project/varq/predictor/forecast/score/group"
	"github.com/varq-project/varq/predictor/live/scores"
)

// driftDays is how many of the last days are searched for a forecaster's drift, and at least for
// groups that are off.
const driftDays = 90

// Reader reads the calibration of forecasts from their scores.
type Reader struct {
	Scores *scores.Store
	// Now is the clock, in Unix seconds.
	Now func() int64
	// Operator reports whether all users may be named to a user.
	Operator func(user string) bool
}

// Calibration returns the calibration of the forecasts that q selects, as user may see it: users
// are named to themselves and to operators alone.
func (r Reader) Calibration(ctx context.Context, user string, q api.CalibrationQuery) (api.Calibration, error) {
	c, err := r.Rows(ctx, q)
	if err != nil {
		return c, err
	}
	c.Worst, err = r.worst(ctx, q)
	for i := range c.Worst {
		if w := &c.Worst[i]; w.By == group.User && w.Value != user && !r.Operator(user) {
			w.Value = ""
		}
	}
	return c, err
}

// Rows returns the calibration of the forecasts that q selects, those of waits before those of
// ends, without groups that are off. It names no user.
func (r Reader) Rows(ctx context.Context, q api.CalibrationQuery) (api.Calibration, error) {
	now := r.Now()
	today, from := score.Day(now), score.Day(q.Start)
	wanted := scores.Query{
		Forecaster: q.Forecaster, Partition: q.Partition, Class: q.Class,
		From:        min(from, today-driftDays),
		ByPartition: q.By == "partition", ByClass: q.By == "class",
	}
	if q.End != 0 {
		wanted.To = score.Day(q.End) + 1
	}
	var f score.Forecasts
	var err error
	if f.Scored, err = r.Scores.Scored(ctx, wanted); err != nil {
		return api.Calibration{}, err
	}
	if f.Unscored, err = r.Scores.Unscored(ctx, wanted, now); err != nil {
		return api.Calibration{}, err
	}
	answer := api.Calibration{By: q.By, Rows: []api.CalibrationRow{}}
	for _, row := range score.Rows(q.By, f, from, today) {
		answer.Rows = append(answer.Rows, calibrationRow(&row))
	}
	slices.SortStableFunc(answer.Rows, func(a, b api.CalibrationRow) int { return strings.Compare(b.Of, a.Of) })
	return answer, nil
}

// worst returns for which groups of jobs the quantiles of the forecasts that q selects held least
// as often as they say, as api.Calibration tells them. There are none if q selects a partition or a
// class. It names users.
func (r Reader) worst(ctx context.Context, q api.CalibrationQuery) ([]api.GroupCoverage, error) {
	if q.Partition != "" || q.Class != "" {
		return nil, nil
	}
	from, to := min(score.Day(q.Start), score.Day(r.Now())-driftDays), int64(0)
	if q.End != 0 {
		to = score.Day(q.End) + 1
	}
	held, err := r.Scores.Held(ctx, q.Forecaster, from, to)
	if err != nil {
		return nil, err
	}
	var worst []api.GroupCoverage
	for _, forecaster := range slices.Sorted(maps.Keys(held)) {
		for _, c := range group.Worst(held[forecaster], score.Levels[:]) {
			g := api.GroupCoverage{Forecaster: forecaster, Of: of(forecaster), By: c.By, Value: c.Value, Jobs: c.Jobs, Off: c.Off}
			for i, p := range c.Coverage {
				g.Quantiles = append(g.Quantiles, api.HeldQuantile{Quantile: score.Levels[i], Covered: p.Share, Low: p.Low, High: p.High})
			}
			worst = append(worst, g)
		}
	}
	return worst, nil
}

// of returns what a forecaster forecasts.
func of(forecaster string) string {
	switch {
	case scores.OfEnd(forecaster):
		return api.OfEnd
	case ofPending(forecaster):
		return api.OfPending
	}
	return api.OfWait
}

// calibrationRow translates a row of scores for package api.
func calibrationRow(r *score.Row) api.CalibrationRow {
	row := api.CalibrationRow{
		Forecaster: r.Forecaster, Of: of(r.Forecaster), Group: r.Group, Forecasts: r.Forecasts, Weeks: r.Weeks,
		CalibrationError: r.CalibrationError, Brier: r.Brier, Drift: r.Drift.String(),
		Quantiles:   make([]api.QuantileCoverage, len(r.Quantiles)),
		Reliability: make([]api.ReliabilityBin, len(r.Reliability)),
	}
	for i, q := range r.Quantiles {
		row.Quantiles[i] = api.QuantileCoverage(q)
	}
	for i, p := range r.Reliability {
		row.Reliability[i] = api.ReliabilityBin(p)
	}
	for _, n := range r.Near {
		row.Near = append(row.Near, api.Near(n))
	}
	return row
}
