package selfscore

import (
	"context"
	"slices"
	"strings"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/forecast/score"
	"github.com/varq-project/varq/predictor/live/scores"
)

// driftDays is how many of the last days are searched for a forecaster's drift.
const driftDays = 90

// Reader reads the calibration of forecasts from their scores.
type Reader struct {
	Scores *scores.Store
	// Now is the clock, in Unix seconds.
	Now func() int64
}

// Calibration returns the calibration of the forecasts that q selects, those of waits before those of ends. The answer names no
// user, so that any user may read it.
func (r Reader) Calibration(ctx context.Context, q api.CalibrationQuery) (api.Calibration, error) {
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

// calibrationRow translates a row of scores for package api.
func calibrationRow(r *score.Row) api.CalibrationRow {
	row := api.CalibrationRow{
		Forecaster: r.Forecaster, Of: api.OfWait, Group: r.Group, Forecasts: r.Forecasts,
		CalibrationError: r.CalibrationError, Brier: r.Brier, Drift: r.Drift.String(),
		Quantiles:   make([]api.QuantileCoverage, len(r.Quantiles)),
		Reliability: make([]api.ReliabilityBin, len(r.Reliability)),
	}
	if scores.OfEnd(r.Forecaster) {
		row.Of = api.OfEnd
	}
	for i, q := range r.Quantiles {
		row.Quantiles[i] = api.QuantileCoverage(q)
	}
	for i, p := range r.Reliability {
		row.Reliability[i] = api.ReliabilityBin(p)
	}
	return row
}
